from abc import ABC, abstractmethod
from typing import Iterable, Optional

from ..core.job import Job


class Store(ABC):
    @abstractmethod
    def save(self, job: Job) -> None: ...

    @abstractmethod
    def load(self, job_id: str) -> Optional[Job]: ...

    @abstractmethod
    def all(self) -> Iterable[Job]: ...

    def tag(self, job_id: str, label: str) -> None:
        job = self.load(job_id)
        self.labels().setdefault(label, []).append(job)

    def labels(self) -> dict:
        return {}
