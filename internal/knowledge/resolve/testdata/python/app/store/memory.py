from app.core import job as jobs
from app.store.base import Store


class MemoryStore(Store):
    def __init__(self):
        self._jobs: dict[str, jobs.Job] = {}
        self._labels = {}

    def save(self, job):
        self._jobs[job.id] = job

    def load(self, job_id):
        return self._jobs.get(job_id)

    def all(self):
        return list(self._jobs.values())

    def labels(self):
        return self._labels

    def oldest(self) -> jobs.Job:
        first = next(iter(self._jobs.values()))
        first.last()
        return first

    def clear(self) -> None:
        for job in self._jobs.values():
            job.finish("cleared")
        self._jobs.clear()


def fresh() -> MemoryStore:
    store = MemoryStore()
    store.save(jobs.Job(jobs.make_id("seed"), print))
    store.oldest().start()
    return store
