import json

import app
from app.core import Job, Queue
from app.core.queue import PriorityQueue
from app.store.sql import open_store

from .render import as_json, Page


class View:
    queue: Queue

    def __init__(self, queue: Queue):
        self.queue = queue
        self.page = Page("jobs")

    def respond(self, body) -> str:
        return as_json(body)

    def handle(self, request) -> str:
        try:
            return self.respond(self.show(request))
        except app.UnknownJob as e:
            return self.error(e)

    def show(self, request):
        raise NotImplementedError

    def error(self, e: app.QueueError) -> str:
        self.page.add(e.describe())
        return self.page.render()


class JobView(View):
    def show(self, request):
        job = self.queue.get(request.args["id"])
        return {"id": job.id, "seconds": job.total()}


class ListView(View):
    def show(self, request):
        rows = [self.row(job) for job in self.queue.waiting()]
        return self.page.fill(rows).body()

    def row(self, job: Job) -> str:
        return json.dumps({"id": job.id, "took": job.last().duration()})


def routes(path: str) -> dict[str, View]:
    queue = PriorityQueue(open_store(path))
    queue.submit(print, 3)
    queue.rank(queue.submit(print), 2)
    return {"/jobs": ListView(queue), "/job": JobView(queue)}


def serve(path: str, request) -> str:
    table = routes(path)
    view = table[request.path]
    return view.handle(request)


def main() -> None:
    app.Queue.with_memory().work(5)
    views = [JobView(Queue()), ListView(Queue())]
    for view in views:
        view.handle(None)
