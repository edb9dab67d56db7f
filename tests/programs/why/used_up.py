def count_up(end):
    yield from range(end)


class Rows:
    def __init__(self):
        self.rows = count_up(4)

    def total(self):
        return sum(self.rows)


numbers = count_up(3)
first = list(numbers)
second = list(numbers)
rows = Rows()
print(rows.total())
left = [one for one in rows.rows]
texts = map(str, first)
count = sum(1 for _ in texts)
joined = ",".join(texts)
print("end")
