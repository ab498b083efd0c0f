import json


class Comparable:
    def rank(self) -> int:
        raise NotImplementedError

    def before(self, other: "Comparable") -> bool:
        return self.rank() < other.rank()  #~ rank mixins.py:Comparable.rank; rank#2 mixins.py:Comparable.rank


class Serializable:
    _version = 1

    def payload(self) -> dict:
        return dict(vars(self))

    def serialize(self) -> str:
        return json.dumps(self.payload())  #~ payload mixins.py:Serializable.payload; dumps -

    @classmethod
    def deserialize(cls, text: str):
        return cls.revive(json.loads(text))  #~ revive mixins.py:Serializable.revive; loads -

    @classmethod
    def revive(cls, data: dict):
        made = cls.__new__(cls)  #~ __new__ -
        made.__dict__.update(data)  #~ update -
        return made
