class Printable:
    __slots__ = ()
    def __str__(self):
        from sympy.printing.str import text
        return text(self)
