print('printer loaded')
from sympy.core.basic import x
def text(value):
    return 'x'
