from .job import Job, Status
from .queue import Queue
