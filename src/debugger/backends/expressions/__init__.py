"""Evaluates expressions of C++ and Rust by the values that a debugger shows.

`expression_parser.parse_expression` reads a text into a `syntax_tree`; the in-process engine
compiles that tree. Debuggers that cannot evaluate it themselves (LLDB reads Rust as C++, and calls
only functions that the program contains) show the values all the same: `expression_walk` follows
the tree through them, and `shown_values` reads what they show.
"""
