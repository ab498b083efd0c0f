import sqlite3

from app.core.errors import fail
from app.store.base import Store


class Connection:
    def __init__(self, path: str):
        self.raw = sqlite3.connect(path)

    def query(self, text: str, *args):
        cursor = self.raw.cursor()
        cursor.execute(text, args)
        return cursor.fetchall()

    def once(self, text: str, *args):
        rows = self.query(text, *args)
        if len(rows) > 1:
            fail("too many rows")
        return rows[0] if rows else None


class SqlStore(Store):
    def __init__(self, path: str, connection: Connection = None):
        self.connection = connection or Connection(path)
        self.migrate()

    def migrate(self) -> None:
        self.connection.query("create table if not exists jobs (id text)")

    def save(self, job) -> None:
        self.connection.query("insert into jobs values (?)", job.id)

    def load(self, job_id):
        row = self.connection.once("select * from jobs where id = ?", job_id)
        return self._job(row)

    def all(self):
        return [self._job(row) for row in self.connection.query("select * from jobs")]

    @staticmethod
    def _job(row):
        from app.core.job import Job

        return Job(row[0], print)


def open_store(path: str) -> SqlStore:
    return SqlStore(path)
