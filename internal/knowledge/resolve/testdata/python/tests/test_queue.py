import unittest

from app import Queue
from app.core import clock
from app.core.queue import PriorityQueue
from app.store.memory import MemoryStore, fresh


def noop(job):
    job.last()


class QueueTest(unittest.TestCase):
    def setUp(self):
        self.store = MemoryStore()
        self.queue = Queue(self.store)

    def test_submit(self):
        job = self.queue.submit(noop)
        self.assertEqual(self.queue.get(job.id), job)
        clock.advance(3)
        self.assertTrue(self.count() > 0)

    def test_work(self):
        self.queue.submit(noop)
        self.assertEqual(self.queue.work(1), 1)
        self.store.clear()

    def test_priority(self):
        queue = PriorityQueue(fresh())
        queue.submit(noop).run()
        queue.retry("x")

    def count(self) -> int:
        return len(list(self.queue.waiting()))
