import abc
import contextlib
import logging

from .invoice import Invoice

log = logging.getLogger(__name__)  #~ getLogger -


class Session:
    def __init__(self, gateway: "Gateway"):
        self.gateway = gateway
        self.open = True

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exc):
        self.finish()  #~ finish gateway.py:Session.finish

    def finish(self) -> None:
        self.open = False
        self.gateway.released(self)  #~ released gateway.py:Gateway.released

    def submit(self, invoice: Invoice) -> str:
        log.info("charging %s", invoice.total())  #~ info -; total invoice.py:Invoice.total
        return self.gateway.charge(invoice)  #~ charge gateway.py:Gateway.charge


class Gateway(abc.ABC):
    retries = 3

    @abc.abstractmethod
    def charge(self, invoice: Invoice) -> str: ...

    def session(self) -> Session:
        return Session(self)  #~ Session gateway.py:Session.__init__

    @contextlib.contextmanager
    def exclusive(self):
        session = self.session()  #~ session gateway.py:Gateway.session
        try:
            yield session
        finally:
            session.finish()  #~ finish gateway.py:Session.finish

    def released(self, session: Session) -> None:
        log.debug("released")  #~ debug -


class StripeGateway(Gateway):
    def __init__(self, key: str):
        self._key = key

    def charge(self, invoice: Invoice) -> str:
        for attempt in range(self.retries):
            if token := self._post(invoice):  #~ _post gateway.py:StripeGateway._post
                return token.strip()  #~ strip -
        raise RuntimeError("no answer")

    def _post(self, invoice: Invoice) -> str:
        return f"{self._key}:{invoice.total().cents()}"  #~ total invoice.py:Invoice.total; cents money.py:Money.cents


class FakeGateway(Gateway):
    def __init__(self) -> None:
        self.charged: list[Invoice] = []

    def charge(self, invoice: Invoice) -> str:
        self.charged.append(invoice)  #~ append -
        return "fake"


def connect(url: str) -> Gateway:
    if url.startswith("fake:"):  #~ startswith -
        return FakeGateway()  #~ FakeGateway gateway.py:FakeGateway.__init__
    return StripeGateway(url)  #~ StripeGateway gateway.py:StripeGateway.__init__
