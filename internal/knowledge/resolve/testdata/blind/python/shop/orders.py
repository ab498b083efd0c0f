from __future__ import annotations

import functools
from typing import Callable, NamedTuple, Optional, Protocol, Union

from .catalog import Catalog, Product
from .money import Money
from . import events as ev


class Notifier(Protocol):
    def notify(self, order: Order) -> None: ...


class Item(NamedTuple):
    product: Product
    count: int

    def cost(self) -> Money:
        return self.product.price.scale(self.count)  #~ scale money.py:Money.scale


def audited(action: str):
    def decorate(func):
        @functools.wraps(func)  #~ wraps -
        def wrapper(self, *args, **kwargs):
            ev.emit(action, self)  #~ emit events.py:emit
            return func(self, *args, **kwargs)  #~ func -
        return wrapper
    return decorate


class Order:
    def __init__(self, customer: str, notifier: Optional[Notifier] = None):
        self.customer = customer
        self.items: list[Item] = []
        self.notifier = notifier
        self.hooks: list[Callable[[Order], None]] = []

    def with_item(self, product: Product, count: int = 1) -> Order:
        self.items.append(Item(product, count))  #~ append -; Item orders.py:Item
        return self

    @functools.cached_property
    def total(self) -> Money:
        return sum((item.cost() for item in self.items), Money.zero())  #~ cost orders.py:Item.cost; zero money.py:Money.zero

    @audited("close")  #~ audited orders.py:audited
    def close(self) -> None:
        for hook in self.hooks:
            hook(self)  #~ hook -
        if self.notifier is not None:
            self.notifier.notify(self)  #~ notify orders.py:Notifier.notify

    def describe(self) -> str:
        first, *_ = self.items
        return f"{self.customer}: {first.product.label()}"  #~ label catalog.py:Product.label

    def on_close(self, hook: Callable[[Order], None]) -> None:
        self.hooks.append(hook)  #~ append -


def place(catalog: Catalog, customer: str, wanted: dict[str, int]) -> Order:
    order = Order(customer)  #~ Order orders.py:Order.__init__
    for sku, count in wanted.items():  #~ items -
        product = catalog.lookup(sku)  #~ lookup catalog.py:Registry.lookup
        if product is None:
            raise KeyError(sku)
        order.with_item(product, count).on_close(ev.log_order)  #~ with_item orders.py:Order.with_item; on_close orders.py:Order.on_close
    return order


def summary(thing: Union[Order, Product]) -> str:
    if isinstance(thing, Product):
        return thing.label()  #~ label catalog.py:Product.label
    return thing.describe()  #~ describe orders.py:Order.describe
