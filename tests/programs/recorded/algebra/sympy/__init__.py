from sympy.core.basic import x
import sympy.printing.str
