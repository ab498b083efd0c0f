from decimal import Decimal
from functools import lru_cache, reduce


class Money:
    __slots__ = ("amount", "currency")

    def __init__(self, amount: Decimal, currency: str = "EUR"):
        self.amount = amount
        self.currency = currency

    @staticmethod
    def zero() -> "Money":
        return Money(Decimal(0))  #~ Money money.py:Money.__init__; Decimal -

    def cents(self) -> int:
        return int(self.amount * 100)

    def scale(self, factor: float) -> "Money":
        return self._with(self.amount * Decimal(factor))  #~ _with money.py:Money._with; Decimal -

    def plus(self, other: "Money") -> "Money":
        check_same(self, other)  #~ check_same money.py:check_same
        return self._with(self.amount + other.amount)  #~ _with money.py:Money._with

    def _with(self, amount: Decimal) -> "Money":
        return type(self)(amount, self.currency)

    def pretty(self) -> str:
        return f"{self.cents() / 100:.2f} {symbol(self.currency)}"  #~ cents money.py:Money.cents; symbol money.py:symbol


def check_same(a: Money, b: Money) -> None:
    if a.currency != b.currency:
        raise ValueError("currencies differ")


@lru_cache(maxsize=None)
def symbol(code: str) -> str:
    return {"EUR": "€", "USD": "$"}.get(code, code)  #~ get -


def parse(text: str) -> Money:
    number, _, code = text.partition(" ")  #~ partition -
    return Money(Decimal(number), code or "EUR")  #~ Money money.py:Money.__init__; Decimal -


def total(amounts) -> Money:
    return reduce(lambda a, b: a.plus(b), amounts, Money.zero())  #~ reduce -; plus money.py:Money.plus; zero money.py:Money.zero
