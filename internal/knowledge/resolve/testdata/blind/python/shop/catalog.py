from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Generic, Iterator, TypeVar

from shop.mixins import Comparable, Serializable
from . import money
from .money import Money, parse as parse_money

T = TypeVar("T")


@dataclass
class Product(Serializable, Comparable):
    sku: str
    price: Money
    tags: list[str] = field(default_factory=list)

    def rank(self) -> int:
        return self.price.cents()  #~ cents money.py:Money.cents

    def payload(self) -> dict:
        data = super().payload()  #~ payload mixins.py:Serializable.payload
        data["price"] = str(self.price)
        return data

    @property
    def discounted(self) -> Money:
        return self.price.scale(0.9)  #~ scale money.py:Money.scale

    def label(self) -> str:
        return self.discounted.pretty()  #~ pretty money.py:Money.pretty


class Registry(Generic[T]):
    def __init__(self) -> None:
        self._items: dict[str, T] = {}

    def register(self, key: str, item: T) -> T:
        self._items[key] = item
        return item

    def lookup(self, key: str) -> T | None:
        return self._items.get(key)  #~ get -

    def each(self) -> Iterator[T]:
        yield from self._items.values()  #~ values -


class Catalog(Registry[Product]):
    def __init__(self, currency: str = "EUR") -> None:
        super().__init__()  #~ __init__ catalog.py:Registry.__init__
        self.currency = currency
        self.by_tag: defaultdict[str, list[Product]] = defaultdict(list)

    def add(self, sku: str, amount: str, *tags: str) -> Product:
        product = Product(sku, parse_money(amount), list(tags))  #~ Product catalog.py:Product; parse_money money.py:parse
        for tag in tags:
            self.by_tag[tag].append(product)  #~ append -
        return self.register(sku, product)  #~ register catalog.py:Registry.register

    def cheapest(self, tag: str) -> Product:
        best, *rest = self.by_tag[tag]
        for candidate in rest:
            if candidate.before(best):  #~ before mixins.py:Comparable.before
                best = candidate
        return best

    def labels(self) -> list[str]:
        return [p.label() for p in self.each()]  #~ label catalog.py:Product.label; each catalog.py:Registry.each

    def worth(self) -> Money:
        return money.total(p.price for p in self.each())  #~ total money.py:total; each catalog.py:Registry.each

    def tagged(self) -> dict[str, str]:
        return {tag: found[0].serialize() for tag, found in self.by_tag.items()}  #~ serialize mixins.py:Serializable.serialize; items -


def load_catalog(lines) -> Catalog:
    catalog = Catalog()  #~ Catalog catalog.py:Catalog.__init__
    for line in lines:
        sku, amount, *tags = line.split()  #~ split -
        catalog.add(sku, amount, *tags)  #~ add catalog.py:Catalog.add
    return catalog
