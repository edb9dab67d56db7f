import pytest

COUNTS = {}
STATE = {"n": 0}


def fee(n):
    return n // 10


class Acc:
    def __init__(self):
        self.total = 0

    def add(self, n):
        f = fee(n)
        self.total += n - f


class Holder:
    def __init__(self):
        self.acc = Acc()
        self.log = []

    def pay(self, n):
        self.acc.add(n)
        self.log.append(n)


def test_field():
    a = Acc()
    a.add(10)
    assert a.total == 10


def test_item():
    d = {}
    d["k"] = 3
    d["k"] += 1
    assert d["k"] == 3


def test_items_of_items():
    rows = [{"qty": 1}, {"qty": 2}]
    for r in rows:
        r["qty"] *= 10
    rows[0]["qty"] += 5
    total = sum(r["qty"] for r in rows)
    assert total == 30


def test_field_of_a_field():
    h = Holder()
    h.pay(20)
    h.pay(30)
    assert h.acc.total == 50


def chunks(items):
    batch = []
    for it in items:
        batch.append(it)
        if len(batch) == 2:
            yield batch
            batch = []


def test_generator():
    got = list(chunks([10, 20, 30, 40]))
    assert got == [[10, 20], [30, 41]]


def test_lambda():
    double = lambda q: q * 2
    got = [double(i) for i in range(3)]
    assert got == [0, 2, 5]


def count(n):
    COUNTS["n"] = n


def test_of_the_module():
    count(4)
    assert COUNTS["n"] == 5


def test_before():
    STATE["n"] += 1


def test_after():
    got = STATE["n"]
    assert got == 0


@pytest.mark.xfail(strict=True, reason="known")
def test_strict():
    pass


class Named:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        shown = self.name
        return f"<{shown}>"


def test_of_many_lines():
    word = "a" + "b"
    one = Named(word)
    assert (
        one.name
        .strip()
        .lower()
        .strip()
        .lower()
        ==
        "b"
    )
