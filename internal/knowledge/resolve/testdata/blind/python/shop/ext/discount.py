from shop import Product
from shop.money import Money

__all__ = ["apply_discount", "Discount"]


class Discount:
    def __call__(self, product: Product) -> Money:
        return self.compute(product)  #~ compute discount.py:Discount.compute

    def compute(self, product: Product) -> Money:
        return product.price


class Seasonal(Discount):
    def __init__(self, factor: float):
        self.factor = factor

    def compute(self, product: Product) -> Money:
        return super().compute(product).scale(self.factor)  #~ compute discount.py:Discount.compute; scale money.py:Money.scale


def apply_discount(product: Product, discount: Discount | None = None) -> Money:
    discount = discount or Seasonal(0.5)  #~ Seasonal discount.py:Seasonal.__init__
    return discount.compute(product)  #~ compute discount.py:Discount.compute
