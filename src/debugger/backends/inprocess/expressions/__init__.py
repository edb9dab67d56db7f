"""Compiles and runs users' conditions, log messages and `print` expressions, in three ways.

`expression_parser.parse_expression` reads a text; `resolution` checks it in a `Scope`
(`declared_names.DeclaredNames` is one of the debug information) and gives nodes;
`expression_evaluation` runs them in Python at a pause, `javascript_writer` and `log_text` in Frida
at each hit, `c_writer` in a CModule where a line is hot and no text is asked for.
"""
