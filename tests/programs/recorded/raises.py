def a(x):
    raise KeyError(x)
def b():
    try: a(1)
    except KeyError as e: raise ValueError("bad") from e
b()
