import functools
def add(a, b):
    return a + b
def main():
    import re
    re.sub('a', lambda m: str(add(1, 2)), 'a')
    return re.compile('b').sub(seen, 'b')
def seen(match):
    return 'c'
main()
import json
class Odd(json.JSONEncoder):
    def default(self, o):
        return 1
def dumps():
    return json.dumps([object()], cls=Odd)
dumps()
