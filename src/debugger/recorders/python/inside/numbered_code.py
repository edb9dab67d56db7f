"""Puts into code what reports the hits of a line and exceptions that leave it (CPython 3.11)."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_UNWIND_STACK = 6  # values that the hook of an unwinding has on the stack
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
    # What raises an exception of a handler once more begins no line.
    ways = {one for one in ways if one.op != ops["COPY"]}
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


def add_unwind_hook(code: CodeType, hook: Any, parts: Any) -> CodeType:
    """Return code that calls a function with each exception that leaves it.

    What the function fails with changes nothing. The instructions stay where they are.

    Args:
        code: The code of a function or a module.
        hook: The function.
        parts: The definitions of `bytecode` and `counted_code`.
    """
    make, text = parts.instruct, code.co_code
    first = text[::2].index(parts.opmap["RESUME"]) + 1
    # On the stack: the number of the instruction, the exception that is handled, and the new one.
    begin = make("PUSH_EXC_INFO")
    call = make("PUSH_NULL") + make("LOAD_CONST", len(code.co_consts)) + make("COPY", 3)
    call += make("PRECALL", 1) + make("CALL", 1) + make("POP_TOP")
    failed = make("PUSH_EXC_INFO") + make("POP_TOP") + make("POP_EXCEPT")
    leave = make("SWAP", 2) + make("POP_EXCEPT") + make("RERAISE", 1)
    call += make("JUMP_FORWARD", len(failed) // 2)
    added = begin + call + failed + leave
    end = len(text) // 2
    regions = []
    for start, last, to, depth, is_numbered in parts.read_handlers(code.co_exceptiontable):
        if first < start:
            regions.append((first, start, (end, 0, True)))
        regions.append((start, last, (to, depth, is_numbered)))
        first = max(first, last)
    if first < end:
        regions.append((first, end, (end, 0, True)))
    called = end + len(begin) // 2
    behind = called + len(call) // 2
    regions.append((called, behind, (behind, 3, False)))
    changed: CodeType = code.replace(
        co_code=text + added,
        co_consts=(*code.co_consts, hook),
        co_linetable=code.co_linetable + parts.no_locations(len(added) // 2),
        co_exceptiontable=parts.write_regions(regions),
        co_stacksize=code.co_stacksize + _UNWIND_STACK,
    )
    return changed


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
