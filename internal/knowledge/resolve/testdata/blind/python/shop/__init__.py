from .catalog import Catalog, Product, load_catalog
from .orders import Order, place as place_order
from .billing import Invoice

__all__ = ["Catalog", "Product", "Order", "Invoice", "load_catalog", "place_order"]
