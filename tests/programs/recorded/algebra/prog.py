"""Uses a library whose texts are written by a module that it imports late."""

import sympy
from sympy.core.basic import Basic, take
take(sympy.x)
take(Basic(*[Basic(n) for n in range(50)]))
