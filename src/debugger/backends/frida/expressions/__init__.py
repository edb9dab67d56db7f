"""Compiles and runs users' conditions, log messages and `print` expressions, in three ways.

`syntax.parse` reads a text; `resolve` checks it in a `Scope` (`declared.Declared` is one of the
debug information) and gives nodes; `evaluate` runs them in Python at a pause, `javascript` and
`saying` in Frida at each hit, `c` in a CModule where a line is hot and no text is asked for.
"""
