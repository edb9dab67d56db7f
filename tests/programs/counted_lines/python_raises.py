
import json
def low(key):
    return {}[key]
def high():
    try:
        low("a")
    except KeyError:
        pass
    try:
        json.loads("{")  # raised in a library, comes out here
    except ValueError:
        pass
    next(iter([]), None)
    str(__import__("pathlib").Path("x"))  # raises AttributeError inside, handled there
    for _ in range(2000):
        try:
            int("x")
        except ValueError:
            pass
def group():
    found = []
    for number in (1, 2):
        try:
            raise RuntimeError(number)
        except RuntimeError as error:
            found.append(error)
    raise ExceptionGroup("both", found)
