import logging
from typing import Iterator

from app.store.base import Store
from app.store.memory import MemoryStore

from .clock import Timer, now
from .errors import UnknownJob
from .job import Job, make_id

log = logging.getLogger(__name__)
default_store = MemoryStore()


class Queue:
    limit = 10

    def __init__(self, store: Store = None):
        self.store = store or default_store
        self.hooks = []

    def submit(self, handler) -> Job:
        job = Job(make_id(), handler)
        self.store.save(job)
        self._notify(job)
        log.info("submitted %s", job.id)
        return job

    def _notify(self, job: Job) -> None:
        for hook in self.hooks:
            hook(job)

    def get(self, job_id: str) -> Job:
        job = self.store.load(job_id)
        if job is None:
            raise UnknownJob.for_id(job_id)
        return job

    def waiting(self) -> Iterator[Job]:
        for job in self.store.all():
            if not job.status.final():
                yield job

    def work(self, seconds: float) -> int:
        done = 0
        with Timer(seconds) as timer:
            for job in self.waiting():
                if not timer.check():
                    break
                job.run()
                self.store.save(job)
                done += 1
        return done

    def retry(self, job_id: str) -> None:
        def attempt(job: Job) -> None:
            job.run()
            self._notify(job)

        found = self.get(job_id)
        attempt(found)
        found.last().duration()

    @classmethod
    def with_memory(cls) -> "Queue":
        queue = cls(MemoryStore())
        queue.warm()
        return queue

    def warm(self) -> None:
        self.store.load("none")
        now()


class PriorityQueue(Queue):
    def submit(self, handler, priority: int = 0) -> Job:
        job = super().submit(handler)
        self.rank(job, priority)
        return job

    def rank(self, job: Job, priority: int) -> None:
        self.store.tag(job.id, str(priority))

    def waiting(self):
        return sorted(super().waiting(), key=lambda job: job.total())
