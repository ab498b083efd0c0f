from shop.ext.discount import *
