"""Orders of a small shop."""
from __future__ import annotations

import asyncio, json
import os.path as osp
import xml.etree.ElementTree
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, wraps
from typing import Generic, Iterable, Literal, NewType, Optional, Protocol, TypeVar

from . import settings
from .models import Base, Customer as Client
from ..db.session import *

T = TypeVar("T")
UserId = NewType("UserId", int)
MAX_RETRIES: int = 3
"""How often a send is tried."""
_cache = {}
logger = logging.getLogger(__name__)
default_mailer = Mailer("smtp.example.com")
square = lambda x: x * x
first, second = 1, 2

type Pair[A] = tuple[A, Client]


class Color(Enum):
    """Colors of things."""

    RED = 1
    GREEN = "g"

    def mix(self, other: Color) -> Color:
        return Color.RED


class Sender(Protocol):
    def send(self, to: str, *parts: bytes, retry: bool = False, **extra: object) -> None: ...


class Repository(ABC, Generic[T]):
    """Keeps things.

    In memory or not.
    """

    table = "things"
    TIMEOUT = 30
    session: Session
    engine = create_engine("sqlite://")

    def __init__(self, session: Session, mailer: Optional[Mailer] = None, items: list[Item] | None = None):
        super().__init__()
        self.session = session
        self.mailer = mailer or Mailer("localhost")
        self.items: dict[str, Item] = {}
        self._pool = Pool(size=4)
        client = HttpClient()
        self.client = client
        self.parent, self.child = None, None
        for item in items:
            item.attach(self)

    @abstractmethod
    def find(self, key: "str") -> "Optional[Item]":
        ...

    @property
    def connection(self) -> Connection:
        return self.session.connection()

    @cached_property
    def label(self):
        return self.find("x").name.upper()

    @staticmethod
    def parse(raw: str) -> Item:
        return Item.from_json(json.loads(raw))

    @classmethod
    def build(cls, url: str, /, *, lazy: bool = True) -> Self:
        made = cls(Session(url))
        made.open()
        cls.parse("{}").attach(made)
        return made

    def open(self):
        # Not a docstring.
        self.connection.begin()
        self.mailer.send("ops", self._pool.take())
        self.items["a"].attach(self)
        for key, item in self.items.items():
            item.attach(key)
        with self.session.begin() as tx, open("f") as f:
            tx.commit()
            f.read()
        with (Lock() as lock):
            lock.release()

    class Meta:
        ordering = ["id"]

        def describe(self):
            return self.ordering


@dataclass(frozen=True)
class Item(Base):
    name: str
    owner: Client
    tags: list[Tag] = field(default_factory=list)
    color: Color = Color.GREEN

    def attach(self, repo: Repository[Item]) -> None:
        repo.find(self.name)
        self.owner.notify(f"attached {self.describe()!r}")
        for i, tag in enumerate(self.tags):
            tag.mark(i)
        [t.mark(0) for t in self.tags if t.fresh()]
        names = {tag.title() for tag in self.tags}
        "-".join(names)

    @classmethod
    def from_json(cls, data: dict) -> Item:
        return cls(**data)

    def __eq__(self, other):
        if isinstance(other, Item):
            return other.attach(None)
        return other.unknown()

    def _secret(self):
        pass


def retry(times: int):
    """Decorates with retries."""

    def decorate(fn):
        @wraps(fn)
        async def wrapper(*args, **kwargs):
            for _ in range(times):
                try:
                    return await fn(*args, **kwargs)
                except (OSError, TimeoutError):
                    await asyncio.sleep(1)
                except errors.Rejected as e:
                    e.explain()
                    raise Failed(e) from e

        return wrapper

    return decorate


@retry(MAX_RETRIES)
@settings.traced
async def ship(order: models.Order, mode: Literal["fast", "slow"] = "fast", sender: Sender = default_mailer) -> list[Item]:
    global _cache
    _cache = Cache()
    _cache.clear()
    repo = Repository.build("sqlite://")
    repo.open()
    item = repo.find("x")
    if item is None:
        item = Item("x", None)
    item.attach(repo)
    parcel = Parcel(item) if item else None
    parcel.seal()
    carrier = await order.carrier().connect()
    carrier.load(parcel)
    order.lines[0].touch()
    default_mailer.send("a", b"")
    sender.send("b")
    handler = order.handlers.get("x")
    handler(order)
    if (found := lookup(order)) is not None:
        found.touch()
    assert isinstance(mode, Mode)
    mode.check()
    xml.etree.ElementTree.parse("a.xml").getroot()
    callbacks = sorted(order.lines, key=lambda line: line.total())
    osp.join(*callbacks)
    Repository.parse("{}").attach(repo)
    match order:
        case Order(lines=[first, *rest]):
            first.touch()
        case Refund() as refund:
            refund.pay()

    def local(line: Line):
        return line.total() + square(2)

    return [local(line) for line in order.lines]


class Special(Repository[Item], metaclass=Registry):
    handler_class = JsonHandler

    async def find(self, key):
        found = await super().find(key)
        return found or self.parent.find(key)


if __name__ == "__main__":
    asyncio.run(ship(None))
