"""Puts into code what numbers its calls and counts the hits of a line (CPython 3.11)."""

from __future__ import annotations

from itertools import pairwise
from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_ARGUMENTS = (".hook", ".event", ".arguments")  # of the main code, which an audit hook calls


def add_line_hook(code: CodeType, line: int, hook: Any, parts: Any) -> CodeType:
    """Return code that takes one of an iterator wherever a line begins.

    Args:
        code: The code of a function or a module.
        line: One of its lines.
        hook: The iterator.
        parts: The definitions of `bytecode` and `line_edges`.

    Raises:
        BytecodeError: The code has a form that is not known.
    """
    ops = parts.opmap
    every = parts.read_instructions(code)
    entry = next(at for at, one in enumerate(every) if one.op == ops["RESUME"])
    ways = {one.handler[0] for one in every if one.handler is not None}
    ways |= {one.target for one in every if one.target and _begins_line(one, parts)}
    heads: dict[Any, Any] = {}
    made = every[: entry + 1]
    for before, one in pairwise(every[entry:]):
        # CPython expects these to follow the instruction before them.
        is_bound = one.op in (ops["RESUME"], ops["CALL"], ops["YIELD_VALUE"])
        begins = before.goes_on and (before.line != line or before is every[entry])
        if one.line == line and not is_bound and (begins or one in ways):
            added = _take_one(one, len(code.co_consts), parts)
            heads[one] = added[0]
            if before.goes_on and not begins:  # what goes on in the same line passes by
                passing = parts.BytecodeInstruction(ops["JUMP_FORWARD"], 0, one.position)
                passing.target, passing.handler = one, one.handler
                made.append(passing)
            made += added
        made.append(one)
    for one in every:
        if one.target in heads and _begins_line(one, parts):
            one.target = heads[one.target]
    for one in made:
        if one.handler is not None and one.handler[0] in heads:
            one.handler = (heads[one.handler[0]], *one.handler[1:])
    changed: CodeType = parts.write_instructions(
        code,
        made,
        co_consts=(*code.co_consts, hook),
        co_stacksize=code.co_stacksize + 2,
    )
    return changed


def _take_one(before: Any, constant: int, parts: Any) -> list[Any]:
    """Return what takes one of an iterator before an instruction, with nothing on the stack."""
    steps = (("LOAD_CONST", constant), ("FOR_ITER", 0), ("POP_TOP", 0), ("POP_TOP", 0))
    made = [
        parts.BytecodeInstruction(parts.opmap[name], arg, before.position) for name, arg in steps
    ]
    made[1].target = before
    for one in made:
        one.handler = before.handler
    return made


def _begins_line(jump: Any, parts: Any) -> bool:
    """Return whether what a jump leads to begins its line there."""
    to = jump.target
    return bool(parts.begins_line(jump.line, to.line, to.op, jump.op))


def run_as_hook(code: CodeType, begin: Any, parts: Any) -> CodeType:
    """Return a script's code as the code of a function that an audit hook is (see `exec_watch`)."""
    ops = parts.opmap
    every = parts.read_instructions(code)
    count = len(code.co_consts)

    def make(name: str, arg: int = 0) -> Any:
        return parts.BytecodeInstruction(ops[name], arg)

    entry = next(at for at, one in enumerate(every) if one.op == ops["RESUME"]) + 1
    made = every[:entry]
    made += [make("PUSH_NULL"), make("LOAD_CONST", count), make("PRECALL"), make("CALL")]
    made += [make("POP_TOP"), *(make("DELETE_FAST", at) for at in range(len(_ARGUMENTS)))]
    for one in every[entry:]:
        made.append(one)
        if one.op == ops["RETURN_VALUE"]:
            # No handler of the code's own gets the SystemExit.
            one.op, one.arg = ops["POP_TOP"], 0
            made += [make("LOAD_CONST", count + 1), make("RAISE_VARARGS", 1)]
    changed: CodeType = parts.write_instructions(
        code,
        made,
        co_consts=(*code.co_consts, begin, SystemExit),
        co_argcount=len(_ARGUMENTS),
        co_nlocals=len(_ARGUMENTS),
        co_varnames=_ARGUMENTS,
        co_stacksize=code.co_stacksize + 2,
    )
    return changed


def stores_parameter(code: CodeType) -> bool:
    """Return whether a function assigns to one of its parameters."""
    count = code.co_argcount + code.co_kwonlyargcount
    text, stores = code.co_code, (opmap["STORE_FAST"], opmap["DELETE_FAST"])
    return any(op in stores and arg < count for op, arg in zip(text[::2], text[1::2], strict=True))
