from typing import Any, Callable

Handler = Callable[[str, Any], None]

_handlers: dict[str, list[Handler]] = {}


class Bus:
    _instance = None

    @classmethod
    def instance(cls) -> "Bus":
        if cls._instance is None:
            cls._instance = cls()  #~ Bus events.py:Bus
        return cls._instance

    def subscribe(self, name: str):
        def register(handler: Handler) -> Handler:
            _handlers.setdefault(name, []).append(handler)  #~ setdefault -; append -
            return handler
        return register

    def publish(self, name: str, subject: Any) -> None:
        for handler in _handlers.get(name, ()):  #~ get -
            handler(name, subject)  #~ handler -


bus = Bus()  #~ Bus events.py:Bus


def emit(name: str, subject: Any) -> None:
    Bus.instance().publish(name, subject)  #~ instance events.py:Bus.instance; publish events.py:Bus.publish


@bus.subscribe("close")  #~ subscribe events.py:Bus.subscribe
def log_order(name: str, order: Any = None) -> None:
    print(name, order)


def replay(names: list[str], emit=emit) -> None:
    for name in names:
        emit(name, None)  #~ emit -
