class Where:
    def __init__(self):
        self.children = []

    def add(self, child):
        self.children.append(child)


class Query:
    def __init__(self):
        self.where = Where()

    def clone(self):
        made = Query()
        made.where = self.where
        return made


class Rows:
    def __init__(self, query):
        self._query = query

    def filter(self, test):
        made = Rows(self._query.clone())
        made._query.where.add(test)
        return made

    def count(self):
        return len([one for one in range(20) if all(t(one) for t in self._query.where.children)])


def check():
    low = Rows(Query()).filter(lambda one: one < 10)
    even = low.filter(lambda one: one % 2 == 0).count()
    total = low.count()
    print(even, total)


check()
