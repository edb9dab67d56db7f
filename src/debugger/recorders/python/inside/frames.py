"""Reads the values of a frame without side effects in the program."""

from __future__ import annotations

import sys
from _thread import get_ident
from opcode import opname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OPTIMIZED, _VARARGS, _VARKEYWORDS = 0x1, 0x4, 0x8
# Before 3.13 a frame has one dictionary of its variables, which we read and the program may hold.
_IS_SHARED = sys.version_info < (3, 13)
_IS_OURS = sys.version_info[:2] == (3, 12)
_LOOKS = frozenset({"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe"})
_LOOKS_ALONE = frozenset({"vars", "dir"})  # where they are given nothing
_NO_STEPS = frozenset({"CACHE", "PRECALL", "PUSH_NULL", "NOP"})
_get_trace = sys.gettrace  # before it is wrapped for the program
# By the identity of code, which is kept alive: a program can make code that cannot be hashed.
_checked: dict[int, tuple[CodeType, bool]] = {}
# The name by which an assertion that pytest has rewritten reaches the builtins.
_REWRITTEN = "@py_builtins"
_OUTWARD = 60  # frames between a function and those around it
_HAS_RESUME = sys.version_info >= (3, 11)
RETURNS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR"})
YIELDS = frozenset({"YIELD_VALUE", "YIELD_FROM", "SEND", "ASYNC_GEN_WRAP"})
# Where StopIteration is how an iterator or an awaited call ends, and goes no further.
ENDED_BY_STOP = frozenset({"SEND", "YIELD_FROM", "FOR_ITER"})


def last_instruction(code: CodeType, at: int) -> str:
    """Return the name of the instruction at which a frame is left.

    Until Python 3.11 a frame that awaits another stands before its YIELD_FROM, in order to repeat
    it.
    """
    after = code.co_code[at + 2 : at + 3]
    if after and opname[after[0]] == "YIELD_FROM":
        return "YIELD_FROM"
    return opname[code.co_code[at]]


def is_entered(code: CodeType, at: int) -> bool:
    """Tell a function's entry from a generator's resumption, by its RESUME since 3.11.

    A generator into which an exception is thrown is still at its yield.
    """
    return at < 0 or (
        _HAS_RESUME and not code.co_code[at + 1] & 3 and opname[code.co_code[at]] not in YIELDS
    )


def is_raised_again(code: CodeType, raised_at: int, at: int) -> bool:
    """Return whether an instruction reraises the exception of an earlier one (3.11).

    The instruction is then in the earlier one's handler: both have the same clean-up as their own
    handler.
    """
    handlers = _exception_handlers(code)
    entered = handlers.get(raised_at)
    return entered is not None and handlers.get(entered) == handlers.get(at, -1)


def _exception_handlers(code: CodeType) -> dict[int, int]:
    """Return the handler of each instruction, from CPython's exception table."""
    found: dict[int, int] = {}
    table = iter(getattr(code, "co_exceptiontable", b""))
    for first in table:
        numbers = []
        one = first
        for _ in range(4):  # start, length, target, and the depth with a flag
            number = one & 63
            while one & 64:
                one = next(table)
                number = number << 6 | one & 63
            numbers.append(2 * number)
            one = next(table) if len(numbers) < 4 else 0  # noqa: PLR2004 - all are read
        start, length, target, _ = numbers
        found.update(dict.fromkeys(range(start, start + length, 2), target))
    return found


def looks_at_itself(code: CodeType) -> bool:
    """Return whether a function would notice a read of its variables; its lines are not recorded.

    An `assert` that pytest has rewritten calls locals(), but keeps no reference to the result.
    """
    if not _IS_SHARED or not code.co_flags & _OPTIMIZED:
        return False
    checked = _checked.get(id(code))
    if checked is None:
        names = _LOOKS.intersection(code.co_names)
        known = bool(names) and _REWRITTEN not in code.co_names
        if known and names <= _LOOKS_ALONE:
            known = _calls_alone(code, names)
        checked = _checked[id(code)] = (code, known)
    return checked[1]


def _calls_alone(code: CodeType, names: frozenset[str]) -> bool:
    """Return whether one of these functions is called without arguments; True if in doubt."""
    text = code.co_code
    steps = [(opname[text[at]], text[at + 1]) for at in range(0, len(text), 2)]
    steps = [one for one in steps if one[0] not in _NO_STEPS]
    shift = 1 if _HAS_RESUME else 0  # since 3.11 the lowest bit is not of the name
    for at, (how, number) in enumerate(steps[:-1]):
        after, count = steps[at + 1]
        is_name = how == "LOAD_GLOBAL" and code.co_names[number >> shift] in names
        if is_name and after.startswith("CALL") and count == 0:
            return True
    return any(how == "EXTENDED_ARG" for how, _ in steps)


def local_names(frame: FrameType) -> Any:
    """Return the variables of a frame, as the interpreter has them.

    Of a module or a class of 3.12 with a comprehension these are the globals, or nothing, while it
    is traced: what is read of its frame is written back into the comprehension's variables.
    """
    code = frame.f_code
    if _IS_OURS and code.co_nlocals and not code.co_flags & _OPTIMIZED and _get_trace() is not None:
        return frame.f_globals if code.co_name == "<module>" else {}
    return frame.f_locals


def variables(code: CodeType, frame: FrameType) -> dict[str, Any]:
    """Return a frame's variables, without references that the frame would retain."""
    # For a function this copies all variables into a dictionary (before 3.13).
    found = local_names(frame)
    if not code.co_flags & _OPTIMIZED:
        return {name: one for name, one in list(found.items()) if not name.startswith("__")}
    values = dict(found)
    # In 3.12 the dictionary would keep what the program lets go, and also before, where a hook of
    # rewritten code reads it. Since, it is a view. A trace function writes it back to the frame.
    is_ours = _get_trace() is None if _IS_OURS else _IS_SHARED and code is not frame.f_code
    if is_ours and not looks_at_itself(code):
        found.clear()
    return values


def parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of a function's parameters, in order."""
    flags = code.co_flags
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(flags & _VARARGS) + bool(flags & _VARKEYWORDS)
    return code.co_varnames[:count]


def arguments(code: CodeType, frame: FrameType) -> dict[str, Any]:
    """Return a frame's arguments, in order."""
    names = parameters(code)
    if not names:
        return {}
    values = variables(code, frame)
    return {name: values[name] for name in names if name in values}


def thread_key() -> tuple[int, str]:
    """Return the current thread's identity and name; "" for one that `threading` does not know.

    The system gives an identity again once its thread has ended. threading.current_thread() would
    register a dummy thread, and the program could see that.
    """
    ident = get_ident()
    known = getattr(sys.modules.get("threading"), "_active", {}).get(ident)
    name = getattr(known, "_name", "")
    return ident, name if type(name) is str else ""


def thread_number(known: dict[tuple[int, str], int], write: Any) -> int:
    """Return the number of the current thread, and write down a thread that is not known yet."""
    key = thread_key()
    number = known.get(key)
    if number is None:
        number = known[key] = len(known) + 1
        write(["t", number, key[1]])
    return number


def enclosing_variables(frame: FrameType) -> tuple[dict[str, Any], str]:
    """Return the variables of enclosing functions that are still running.

    The frame itself has only those of them that its function reads. The second value says which
    enclosing function has returned, if one has.
    """
    found: dict[str, Any] = {}
    inner = frame
    while True:
        outer = _enclosing_frame(inner)
        if outer is None or outer.f_code.co_name == "<module>":
            break
        # The innermost function's names hide the outer ones.
        found = {**variables(outer.f_code, outer), **found}
        inner = outer
    name = getattr(inner.f_code, "co_qualname", "").rpartition(".<locals>.")
    if outer is not None or not name[0]:
        return found, ""
    return found, f" ({name[0]} is not running: only the names that {name[2]} reads are kept)"


def _enclosing_frame(frame: FrameType) -> FrameType | None:
    """Return the running call whose code defines that of a frame."""
    code, outer = frame.f_code, frame.f_back
    for _ in range(_OUTWARD):
        if outer is None:
            break
        if _is_enclosing(outer, frame):
            return outer
        outer = outer.f_back
    # A thread runs a closure of a function that another thread is in.
    if "<locals>" in getattr(code, "co_qualname", ""):
        for ident, other in sys._current_frames().items():  # noqa: SLF001
            one: FrameType | None = other if ident != get_ident() else None
            for _ in range(_OUTWARD):
                if one is None:
                    break
                if _is_enclosing(one, frame):
                    return one
                one = one.f_back
    return None


def _is_enclosing(outer: FrameType, frame: FrameType) -> bool:
    """Return whether a call defined the function of a frame, by the variables that both have."""
    code = frame.f_code
    # The outer function's constants have the code of its inner functions.
    if not any(one is code for one in outer.f_code.co_consts):
        return False
    if not code.co_freevars:
        return True
    own = variables(code, frame)
    values = variables(outer.f_code, outer)
    # Another call of the outer function has variables of its own.
    return all(own.get(name) is values.get(name) for name in code.co_freevars)
