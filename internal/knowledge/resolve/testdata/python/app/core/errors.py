class QueueError(Exception):
    def __init__(self, message: str, job_id: str | None = None):
        super().__init__(message)
        self.job_id = job_id

    def describe(self) -> str:
        return f"{self.job_id}: {self.args[0]}"


class UnknownJob(QueueError):
    @classmethod
    def for_id(cls, job_id: str) -> "UnknownJob":
        return cls(f"no job {job_id}", job_id)


def fail(message: str) -> None:
    raise QueueError(message)
