"""What random programs use: fuel, context managers, awaitable values, and their driver."""
class Stop(Exception):
    pass
fuel = [300]
def tick():
    fuel[0] -= 1
    if fuel[0] < 0:
        raise Stop
class Held:
    def __init__(self, is_kept):
        self.is_kept = is_kept
    def __enter__(self):
        return 3
    def __exit__(self, kind, error, trace):
        return self.is_kept
    async def __aenter__(self):
        return await Later(1)
    async def __aexit__(self, kind, error, trace):
        await Later(2)
        return self.is_kept
class Later:
    def __init__(self, value):
        self.value = value
    def __await__(self):
        yield self.value
        return self.value
class Each:
    def __init__(self):
        self.left = 2
    def __aiter__(self):
        return self
    async def __anext__(self):
        self.left -= 1
        if self.left < 0:
            raise StopAsyncIteration
        return await Later(self.left)
def same(function):
    return function
def drain(one):
    found = []
    for _ in range(4):
        try:
            found.append(one.send(None))
        except StopIteration as end:
            return found, end.value
    try:
        one.throw(KeyError(1))
    except (KeyError, StopIteration):
        pass
    one.close()
    return found
