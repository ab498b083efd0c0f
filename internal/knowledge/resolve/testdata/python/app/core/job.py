from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from .errors import fail
from . import clock


class Status(enum.Enum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"

    def final(self) -> bool:
        return self is Status.DONE


@dataclass
class Attempt:
    started: float
    error: Optional[str] = None

    def duration(self) -> float:
        return clock.now() - self.started

    def close(self, error: Optional[str]) -> None:
        self.error = error


@dataclass
class Job:
    id: str
    handler: Callable
    status: Status = Status.WAITING
    attempts: list[Attempt] = field(default_factory=list)

    def start(self) -> Attempt:
        if self.status.final():
            fail("already done")
        attempt = Attempt(clock.now())
        self.attempts.append(attempt)
        self.status = Status.RUNNING
        return attempt

    def finish(self, error: Optional[str] = None) -> None:
        self.last().close(error)
        self.status = Status.DONE

    def last(self) -> Attempt:
        return self.attempts[-1]

    def total(self) -> float:
        return sum(attempt.duration() for attempt in self.attempts)

    def run(self) -> None:
        attempt = self.start()
        try:
            self.handler(self)
        except Exception as e:
            attempt.close(str(e))
            raise
        self.finish()


def make_id(prefix: str = "job") -> str:
    return f"{prefix}-{time.time()}"
