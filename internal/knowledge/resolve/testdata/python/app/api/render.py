import json


def as_json(body) -> str:
    return json.dumps(body, default=encode)


def encode(value):
    if hasattr(value, "describe"):
        return value.describe()
    return str(value)


class Page:
    def __init__(self, title: str):
        self.title = title
        self.rows: list[str] = []

    def add(self, row: str) -> "Page":
        self.rows.append(row)
        return self

    def fill(self, rows) -> "Page":
        for row in rows:
            self.add(row)
        return self

    def body(self) -> str:
        return "\n".join(self.rows)

    def render(self) -> str:
        return header(self.title) + self.body()


def header(title: str) -> str:
    return title.upper()
