"""Uses a library whose texts are written by a module that it imports late."""

import builtins
import sys
def take(value):
    return value
builtins.take = take
sys.path.insert(0, sys.argv[1])
import sympy
from sympy.core.basic import Basic
take(sympy.x)
take(Basic(*[Basic(n) for n in range(50)]))
