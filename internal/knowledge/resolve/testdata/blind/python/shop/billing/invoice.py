from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from .. import money
from ..money import Money

if TYPE_CHECKING:
    from ..orders import Order


class Line:
    def __init__(self, order: Order, tax: float = 0.2):
        self.order = order
        self.tax = tax

    def title(self) -> str:
        return self.order.describe()  #~ describe orders.py:Order.describe

    def amount(self) -> Money:
        return self.order.total.scale(1 + self.tax)  #~ scale money.py:Money.scale


class Invoice:
    counter: ClassVar[int] = 0

    class Builder:
        def __init__(self) -> None:
            self._lines: list[Line] = []
            self._note = ""

        def line(self, order: Order) -> Self:
            self._lines.append(Line(order))  #~ append -; Line invoice.py:Line.__init__
            return self

        def note(self, text: str) -> Invoice.Builder:
            self._note = text
            return self

        def build(self) -> Invoice:
            return Invoice(self._lines, self._note)  #~ Invoice invoice.py:Invoice.__init__

    def __init__(self, lines: list[Line], note: str):
        type(self).counter += 1
        self.lines = lines
        self.note = note

    @classmethod
    def of(cls, *orders: Order) -> Invoice:
        builder = cls.Builder()  #~ Builder invoice.py:Invoice.Builder.__init__
        for order in orders:
            builder = builder.line(order).note(order.describe())  #~ line invoice.py:Invoice.Builder.line; note invoice.py:Invoice.Builder.note; describe orders.py:Order.describe
        return builder.build()  #~ build invoice.py:Invoice.Builder.build

    def total(self) -> Money:
        amount = money.Money.zero()  #~ zero money.py:Money.zero
        for i, line in enumerate(self.lines):
            amount = amount.plus(line.amount())  #~ plus money.py:Money.plus; amount invoice.py:Line.amount
        return amount
