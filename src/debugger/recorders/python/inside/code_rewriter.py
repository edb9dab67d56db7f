"""Rewrites code objects of CPython 3.11, so that they report their own events.

A rewritten function calls hooks where `sys.monitoring` would have its events: at its start and
ends, and at a generator's yields and resumptions. The first execution of each line is noted in a
list, or a hook is called wherever a line begins to run. Before each hook stands a guard, an object
that is true when the hook is of no use any more; it costs two instructions. The guard of a line is
an iterator, of which the first execution takes the only item. The names, constants, positions and
variables of the code stay.

A large project has thousands of functions that never run, and each collection of garbage looks at
all objects that can refer to others. So the functions of a process share their hooks, which get the
function's key, and the guard of a line is of a type that refers to nothing.

A function has a budget of calls that are followed: an iterator, of which each call takes one. Each
later call takes one of another iterator, which costs four instructions and tells their number.
"""

from __future__ import annotations

import sys
from itertools import repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

NOT_REPORTED = None  # what stands for a call whose start was not reported
HOOK_VALUES = 8  # that the hooks' calls have on the stack at most
_CALLED = 2  # values below the arguments of a call
_FOLLOWED = 10_000  # calls of a function


class HookGuard(list):  # type: ignore[type-arg]
    """A guard, which is true once it has an item; code objects with it stay hashable.

    As a list, since its truth is found without a call of Python code. A copy of it in another
    process, as of pickled code, is always true.
    """

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> Any:
        return int, (1,)


class LineHits(list):  # type: ignore[type-arg]
    """The numbers of executed lines, in order; code objects with it stay hashable."""

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> Any:
        # Rewritten code appends to it without a check, in another process, too.
        return list, ()


_CLOSED = HookGuard([1])  # of what has no lines
_LINE_BITS = 24  # of the number of a line, above which is that of its code


def split_line_number(number: int) -> tuple[int, int]:
    """Return the number of the code, and the line."""
    return number >> _LINE_BITS, number & (1 << _LINE_BITS) - 1


class CodeHooks:
    """The hooks of one code object, and their guards."""

    __slots__ = (
        "_first_further", "_source", "all_lines", "budget", "callbacks", "calls", "code",
        "constants", "faster", "function", "further", "hits", "is_past_lines", "key",
        "lined_calls", "lines", "number", "resumptions", "rewritten", "uncounted", "yields",
    )  # fmt: skip

    def __init__(
        self,
        code: CodeType,
        constants: tuple[Any, ...],
        callbacks: dict[str, Any],
        hits: Any = None,
        *,
        followed: int = _FOLLOWED,
        number: int = 0,
    ) -> None:
        self.code = code
        self.key = id(code)  # what hooks find it by
        self.number = number  # of the code, in the numbers of its lines
        self.constants = constants  # the code's, with the functions in it rewritten
        self._source: CodeType | None = None
        self.callbacks = callbacks  # by event: start, stop, return, yield, resume, throw, unwind
        self.hits: LineHits | None = hits  # gets the numbers of executed lines, if they are wanted
        self.rewritten: CodeType = code  # what reports its events
        self.faster: CodeType | None = None  # what does not report lines that were executed
        self.uncounted: CodeType | None = None  # what reports only the lines that are left
        self.function: Any = None  # a weak reference to the function that has faster code
        self.calls = HookGuard()  # closed: starts are not reported
        # Only generators have them. Closed: resumptions and yields are not reported.
        self.resumptions = HookGuard() if "resume" in callbacks else self.calls
        self.yields = HookGuard() if "yield" in callbacks else self.calls
        # With the callback `line`: the calls whose lines are reported; closed while there are none.
        self.lined_calls: set[Any] | None = None
        self.all_lines = HookGuard([1]) if "line" in callbacks else _CLOSED
        self.is_past_lines = False  # no more such calls can begin
        self.lines: dict[int, Any] = {}  # guards
        self.budget: Any = iter(range(followed))  # of it each followed call takes one
        self.further: Any = repeat(None, sys.maxsize)  # of it each other call takes one
        self._first_further = 0  # those that an earlier recording took, of the process that forked

    @property
    def source(self) -> CodeType:
        """The code, with the functions in it rewritten; not made unless it is rewritten itself."""
        if self._source is None:
            is_same = self.constants is self.code.co_consts
            self._source = self.code if is_same else self.code.replace(co_consts=self.constants)
        return self._source

    @property
    def further_calls(self) -> int:
        """The number of calls that were not followed."""
        taken: int = sys.maxsize - self.further.__length_hint__()
        return taken - self._first_further

    def close_calls(self) -> None:
        """Report no more starts and resumptions; calls that run are reported to their end."""
        self.calls[:] = self.resumptions[:] = [1]

    def begin_lines(self, call: Any) -> None:
        """Report the lines of a call."""
        if self.lined_calls is None:
            self.lined_calls = set()
        self.lined_calls.add(call)
        self.all_lines.clear()

    def end_lines(self, call: Any) -> None:
        """Report no more lines of a call."""
        if self.lined_calls is not None:
            self.lined_calls.discard(call)
        # No other thread runs between the two: CPython 3.11 switches at calls and jumps back.
        if not self.lined_calls:
            self.all_lines[:] = [1]

    def close(self) -> None:
        """Report nothing any more."""
        self.close_calls()
        self.all_lines[:] = self.yields[:] = [1]
        for line in self.lines.values():
            line.__setstate__(1)

    def open(self) -> None:
        """Report everything once more."""
        for guard in (self.calls, self.resumptions, self.yields):
            guard.clear()
        for line in self.lines.values():
            line.__setstate__(0)
        self.lined_calls = None
        self.is_past_lines = False
        self.all_lines[:] = [1]
        self.budget.__setstate__(0)
        self._first_further += self.further_calls

    def line_guard(self, line: int) -> Any:
        """Return the guard of a line, an iterator of its number alone."""
        found = self.lines.get(line)
        if found is None:
            number = self.number << _LINE_BITS | line
            found = self.lines[line] = iter(range(number, number + 1))
        return found

    def is_line_left(self, line: int) -> bool:
        """Return whether a line was not executed yet."""
        return bool(self.line_guard(line).__length_hint__())


class CodeRewriter:
    """Rewrites one code object; `parts` are the definitions of `bytecode`.

    Without `is_counted` the code reports lines alone, without `is_first` only those that were not
    executed yet, and no line by a hook.
    """

    # The stack of a function whose calls are reported has one more value, below all others: what
    # its start hook returned, which the hooks at its ends get; None if nothing was reported. All
    # depths are greater by one.

    def __init__(
        self, hooks: CodeHooks, parts: Any, *, is_counted: bool = True, is_first: bool = True
    ) -> None:
        self._code = hooks.source
        self._hooks = hooks
        self._parts = parts
        self._is_counted = is_counted
        self._is_first = is_first
        self._ops: dict[str, int] = parts.opmap
        self._constants: list[Any] = []
        self._numbers: dict[int, int] = {}  # of constants, by their identity
        self._out: list[Any] = []
        self._stubs: list[Any] = []  # behind all others: what goes back from an error of a hook
        self._twins: list[Any] = []  # SENDs that never run
        self._throws: list[Any] = []  # before them: what is thrown in at a yield
        # By instruction, the number of the first of those that were inserted before it.
        self._heads: dict[Any, int] = {}
        # The same behind the hook of its line, for ways that do not begin the line.
        self._bodies: dict[Any, int] = {}
        # The outermost handler: an exception leaves the function.
        self._unwind = self._make("COPY", 3)
        self._thrown: Any = None  # the handler at the last yield

    def rewrite(self, begin_main: Any = None) -> CodeType:
        """Return the rewritten code.

        With `begin_main`, which is called first, it is a function of three arguments that it drops,
        and it ends by SystemExit.

        Raises:
            BytecodeError: The code has a form that is not known.
        """
        parts, code = self._parts, self._code
        every = parts.read_instructions(code)
        entry = next(at for at, one in enumerate(every) if one.op == self._ops["RESUME"])
        self._out = every[: entry + 1]
        if self._is_counted:
            self._add_start(begin_main)
            self._insert_hooks(every, entry, is_main=begin_main is not None)
            self._add_unwind()
        else:
            self._out += self._count_further()
            self._insert_hooks(every, entry)
        self._out += [*self._throws, *self._stubs]
        for one in (*every, *self._twins):
            one.target = self._find_head(one.target, one, one.op)
        for one in self._out:
            if one.handler is not None:
                target, depth, is_numbered = one.handler
                one.handler = (self._find_head(target, one), depth, is_numbered)
        changed: dict[str, Any] = {
            "co_consts": (*code.co_consts, *self._constants),
            "co_stacksize": code.co_stacksize + 1 + HOOK_VALUES,
        }
        if begin_main is not None:
            names = (".hook", ".event", ".arguments")
            changed |= {"co_argcount": 3, "co_nlocals": 3, "co_varnames": names}
        made: CodeType = parts.write_instructions(code, self._out, **changed)
        return made

    def _insert_hooks(self, every: list[Any], entry: int, *, is_main: bool = False) -> None:
        """Add the instructions behind the entry, with the hooks between them."""
        depths = self._parts.find_depths(every, entry + 1)
        has_each = self._is_first and "line" in self._hooks.callbacks
        has_lines = self._hooks.hits is not None or has_each
        leaders = self._find_leaders(every[entry + 1 :]) if has_lines else ()
        before = every[entry]
        for one in every[entry + 1 :]:
            if self._is_counted:
                target, depth, is_numbered = one.handler or (self._unwind, 0, True)
                one.handler = (target, depth + 1, is_numbered)
            if one in depths:
                depth = depths[one] + self._is_counted
                self._add_instruction(one, before, depth, is_leader=one in leaders)
            else:  # never reached
                self._out.append(one)
            if is_main and one.op == self._ops["RETURN_VALUE"]:
                self._replace_return()
            before = one

    def _find_head(self, one: Any, before: Any, jump: int = -1) -> Any:
        """Return where a way from another instruction comes to."""
        begins = one is not None and self._parts.begins_line(before.line, one.line, one.op, jump)
        if one in self._bodies and not begins:
            return self._out[self._bodies[one]]
        return self._out[self._heads[one]] if one in self._heads else one

    def _find_leaders(self, every: list[Any]) -> set[Any]:
        """Return the instructions that may be the first of their line that runs."""
        sources: dict[Any, list[Any]] = {}
        found = set()
        for one in every:
            if one.target is not None:
                sources.setdefault(one.target, []).append(one)
            if one.handler is not None:
                found.add(one.handler[0])
        before = None
        has_each, begins = self._hooks.hits is None, self._parts.begins_line
        for one in every:
            comes = [(other.line, other.op if has_each else -1) for other in sources.get(one, [])]
            if before is not None and before.goes_on:
                comes.append((before.line, -1))
            if before is None or any(begins(line, one.line, one.op, op) for line, op in comes):
                found.add(one)
            before = one
        return found

    def _add_instruction(self, one: Any, before: Any, depth: int, *, is_leader: bool) -> None:
        """Add an instruction, with the hooks before and after it."""
        ops, hooks = self._ops, self._hooks
        is_sent = one.op == ops["YIELD_VALUE"] and before.op == ops["SEND"]
        # CPython expects SEND, YIELD_VALUE and RESUME to be neighbours, and PRECALL and CALL.
        is_bound = one.op in (ops["RESUME"], ops["CALL"]) or is_sent
        if is_leader and one.line is not None and not is_bound:
            # Behind it there may be another hook.
            is_last = one.op not in (ops["YIELD_VALUE"], ops["RETURN_VALUE"])
            then = one if is_last else self._make("NOP", 0, one)
            if hooks.hits is None:
                self._add_line_call(one, before, depth, then)
                self._out += [] if is_last else [then]
            elif self._is_first or hooks.is_line_left(one.line):
                self._begin(one)
                self._add_line(hooks.line_guard(one.line), one, then)
                self._out += [] if is_last else [then]
        if not self._is_counted:
            self._out.append(one)
            return
        if one.op == ops["YIELD_VALUE"]:
            self._add_yield(one, before if is_sent else None, depth)
        elif one.op == ops["RETURN_VALUE"]:
            self._add_return(one)
        elif one.op == ops["JUMP_BACKWARD_NO_INTERRUPT"]:
            # What the awaited frame raises when it is thrown in there comes from this instruction.
            one.handler = self._thrown
        self._out.append(one)
        if one.op == ops["RESUME"]:
            callback, then = hooks.callbacks["resume"], self._make("NOP", 0, one)
            self._add_hook(hooks.resumptions, callback, one, depth, then=then)
            self._out.append(then)

    def _add_line(self, guard: Any, one: Any, then: Any) -> None:
        """Note that a line is executed; no code in Python is called, and so nothing can fail."""
        self._out += [
            self._make("LOAD_CONST", self._constant(guard), one),
            self._jump("FOR_ITER", then, one),
            self._make("LOAD_CONST", self._constant(self._hooks.hits), one),
            self._make("SWAP", 2, one),
            self._make("LIST_APPEND", 1, one),
            self._make("POP_TOP", 0, one),
            self._make("POP_TOP", 0, one),
        ]

    def _add_line_call(self, one: Any, before: Any, depth: int, then: Any) -> None:
        """Call the hook of lines, on the ways that begin this one."""
        is_entry = before.op == self._ops["RESUME"] and not before.arg & 3
        begins = is_entry or self._parts.begins_line(before.line, one.line, one.op)
        if before.goes_on and not begins:
            passing = self._jump("JUMP_FORWARD", then, one)
            passing.handler = one.handler
            self._out.append(passing)
        self._begin(one)
        hooks = self._hooks
        self._add_hook(
            hooks.all_lines, hooks.callbacks["line"], one, depth, then=then, value=one.line
        )
        self._bodies[one] = len(self._out)

    def _begin(self, one: Any) -> None:
        """Let jumps to an instruction come to what is inserted next, before it."""
        self._heads.setdefault(one, len(self._out))

    def _add_start(self, begin_main: Any) -> None:
        """Report the start of the function, and leave the result on the stack."""
        if begin_main is not None:
            self._out += [
                *self._call(begin_main, swallow=None),
                self._make("POP_TOP"),
                *(self._make("DELETE_FAST", number) for number in range(3)),
            ]
        skip = self._make("LOAD_CONST", self._constant(NOT_REPORTED))
        body = self._make("NOP")
        counted = self._count_further()
        self._out += [
            self._make("LOAD_CONST", self._constant(self._hooks.calls)),
            self._jump("POP_JUMP_FORWARD_IF_TRUE", counted[0]),
            *self._call(
                self._hooks.callbacks["start"],
                swallow=self._swallow(skip, 0),
                value=self._hooks.key,
            ),
            self._jump("JUMP_FORWARD", body),
            *counted,
            skip,
            body,
        ]

    def _count_further(self) -> list[Any]:
        """Return the instructions that count a call which is not followed."""
        taken = self._make("NOP")
        return [
            self._make("LOAD_CONST", self._constant(self._hooks.further)),
            self._jump("FOR_ITER", taken),
            self._make("POP_TOP"),
            self._make("POP_TOP"),
            taken,
        ]

    def _add_return(self, one: Any) -> None:
        """Report a return, before its instruction."""
        if one.handler[0] is not self._unwind:
            raise self._parts.BytecodeError("a return has a handler")
        one.handler = None
        self._begin(one)
        drop = self._make("POP_TOP", 0, one)
        call = self._call(
            self._hooks.callbacks["return"], one, copied=(4, 4), swallow=self._swallow(one, 1)
        )
        self._out += [
            self._make("SWAP", 2, one),
            self._make("COPY", 1, one),
            self._jump("POP_JUMP_FORWARD_IF_NONE", drop, one),
            *call,
            self._make("POP_TOP", 0, one),
            drop,
        ]

    def _replace_return(self) -> None:
        """Leave the main code by SystemExit, which no handler of its own gets."""
        one = self._out[-1]
        one.op = self._ops["POP_TOP"]
        one.arg = 0
        self._out += [
            self._make("LOAD_CONST", self._constant(SystemExit), one),
            self._make("RAISE_VARARGS", 1, one),
        ]

    def _add_yield(self, one: Any, send: Any, depth: int) -> None:
        """Report a yield before its instruction, and what is thrown in at it."""
        guard, callback = self._hooks.yields, self._hooks.callbacks["yield"]
        # Where a frame awaits another, CPython looks for a SEND before the yield when it throws.
        then = one if send is None else self._jump("JUMP_FORWARD", one, one)
        if send is None:
            self._begin(one)
        self._add_hook(guard, callback, one, depth, then=then)
        if send is not None:
            twin = self._jump("SEND", send.target, send)
            twin.handler = then.handler = send.handler
            self._out += [then, twin]
            self._twins.append(twin)
        self._add_throw(one)

    def _add_throw(self, one: Any) -> None:
        """Report an exception that is thrown in at a yield, and raise it again."""
        outer = one.handler
        again = self._make("RERAISE", 1, one)
        again.handler = outer
        head = self._make("LOAD_CONST", self._constant(self._hooks.resumptions), one)
        # Below the exception and its number are the values that the handler leaves.
        call = self._call(
            self._hooks.callbacks["throw"],
            one,
            copied=(outer[1] + 2 + _CALLED,),
            swallow=self._swallow(again, outer[1] + 2, outer),
        )
        jump = self._jump("POP_JUMP_FORWARD_IF_TRUE", again, one)
        self._throws += [head, jump, *call, self._make("POP_TOP", 0, one), again]
        one.handler = self._thrown = (head, outer[1], True)

    def _add_unwind(self) -> None:
        """Report an exception that leaves the function, with the instruction it came from."""
        again = self._make("RERAISE", 1)
        self._out += [
            self._unwind,
            self._jump("POP_JUMP_FORWARD_IF_NONE", again),
            *self._call(
                self._hooks.callbacks["unwind"],
                copied=(5, 5, 5),
                swallow=self._swallow(again, 3),
            ),
            self._make("POP_TOP"),
            again,
        ]

    # -- instructions ----------------------------------------------------------------------------

    def _add_hook(
        self,
        guard: HookGuard,
        callback: Any,
        one: Any,
        depth: int,
        *,
        then: Any,
        value: Any = None,
    ) -> None:
        """Call a hook unless its guard is closed; `one` has the position and the handler."""
        swallow = self._swallow(then, depth, one.handler, one)
        added = [
            self._make("LOAD_CONST", self._constant(guard), one),
            self._jump("POP_JUMP_FORWARD_IF_TRUE", then, one),
            *self._call(callback, one, copied=(depth + _CALLED,), swallow=swallow, value=value),
            self._make("POP_TOP", 0, one),
        ]
        for each in added:
            each.handler = each.handler or one.handler
        self._out += added

    def _call(
        self,
        callback: Any,
        one: Any = None,
        *,
        copied: tuple[int, ...] = (),
        swallow: Any,
        value: Any = None,
    ) -> list[Any]:
        """Return the instructions of a call with values of the stack, by depth, and a constant."""
        last = [] if value is None else [self._make("LOAD_CONST", self._constant(value), one)]
        count = len(copied) + len(last)
        made = [
            self._make("PUSH_NULL", 0, one),
            self._make("LOAD_CONST", self._constant(callback), one),
            *(self._make("COPY", at, one) for at in copied),
            *last,
            self._make("PRECALL", count, one),
            self._make("CALL", count, one),
        ]
        for each in made:
            each.handler = swallow
        return made

    def _swallow(
        self, then: Any, depth: int, outer: Any = None, one: Any = None
    ) -> tuple[Any, int, bool]:
        """Return a handler that drops an error of a hook, and goes on.

        Such an error is RecursionError: a program that recurses too deeply has it first in a hook,
        and in its own right after. An interrupt goes on to the program.
        """
        again = self._make("RERAISE", 0, one)
        stub = [
            self._make("LOAD_CONST", self._constant(Exception), one),
            self._make("CHECK_EXC_MATCH", 0, one),
            self._jump("POP_JUMP_FORWARD_IF_FALSE", again, one),
            self._make("POP_TOP", 0, one),
            self._jump("JUMP_BACKWARD_NO_INTERRUPT", then, one),
            again,
        ]
        for each in stub:
            each.handler = outer
        self._stubs += stub
        return stub[0], depth, False

    def _make(self, name: str, arg: int = 0, one: Any = None) -> Any:
        position = self._parts.NOWHERE if one is None else one.position
        return self._parts.BytecodeInstruction(self._ops[name], arg, position)

    def _jump(self, name: str, target: Any, one: Any = None) -> Any:
        made = self._make(name, 0, one)
        made.target = target
        return made

    def _constant(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._code.co_consts) + len(self._constants)
            self._constants.append(value)
        return number
