from sympy.core._print_helpers import Printable
class Basic(Printable):
    __slots__ = ('_args',)
    def __init__(self, *args):
        self._args = args
def take(value):
    return value
x = take(Basic())
