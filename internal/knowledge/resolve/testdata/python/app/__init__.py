"""A small job queue with an HTTP face."""
from .core.queue import Queue
from .core.errors import QueueError, UnknownJob

__all__ = ["Queue", "QueueError", "UnknownJob"]
