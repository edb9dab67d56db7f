"""Translates command lines that users of other debuggers type into this debugger's commands."""
