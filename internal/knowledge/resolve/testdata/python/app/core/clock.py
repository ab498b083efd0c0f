import time

_offset = 0.0


def now() -> float:
    return time.monotonic() + _offset


def advance(seconds: float) -> None:
    global _offset
    _offset += seconds


class Timer:
    def __init__(self, limit: float):
        self.limit = limit
        self.begin = now()

    def __enter__(self) -> "Timer":
        self.restart()
        return self

    def __exit__(self, *args) -> None:
        self.check()

    def restart(self) -> None:
        self.begin = now()

    def elapsed(self) -> float:
        return now() - self.begin

    def check(self) -> bool:
        return self.elapsed() < self.limit
