"""Sets watchpoints by LLDB's command line (lldb-dap 19.1.7).

LLDB's own way to watch a variable knows its type, and removes the watchpoint when its frame is
left. With a condition, however, it compares a write with the value at the last stop, not with the
value after the last write. Then, and for an expression that is no variable, the comparison is made
a part of the condition.
"""

from __future__ import annotations

import itertools
import re

from debugger.backends import lldb_text
from debugger.backends.base import BreakpointChanged
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.program import EvaluationPurpose, Frame, Stopped, Variable

# Bytes that one debug register of x86-64 can watch.
_BYTES_MAX = 8
_INTEGERS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_POINTER = re.compile(r"0x[0-9a-f]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCOPE_ENDED = "its frame has been left, and it is watched no more"


class LldbWatchpoints:
    """Sets watchpoints by `watchpoint set`; their numbers are LLDB's, negated.

    LLDB numbers watchpoints apart from breakpoints.
    """

    slot_count = 4  # debug registers, of x86-64; arm64 has as many at least

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb
        self._known: dict[int, BoundBreakpoint] = {}
        self._names = itertools.count(1)
        # No event tells that LLDB has disabled one: the list is read at each stop, while any is
        # set.
        lldb.stop_checks.append(self._report_disabled)

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint on the memory of an expression's value."""
        expression = (breakpoint_.spec.watch or "").strip()
        # Type, address and size of the value are asked first; LLDB's own answer is checked against
        # them.
        pointer = await self._evaluate_watched(f"&({expression})", frame)
        address = _value_address(pointer.value)
        size = int((await self._evaluate_watched(f"sizeof({expression})", frame)).value)
        # For a larger one LLDB takes all free debug registers, and keeps them.
        if not 0 < size <= _BYTES_MAX:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{expression} has {size} bytes, and a watchpoint {_BYTES_MAX} at most",
                hint="watch one of its members or elements; debugger print shows them",
            )
        # In another frame the expression's names mean something else: the type and address do not.
        again = await self._expression_anywhere(pointer.type, address, size, frame)
        number = await self._set_watchpoint(expression, address, size, breakpoint_, frame)
        bound = BoundBreakpoint(
            verified=True, backend_id=-number, address=hex(address), again=again
        )
        self._known[number] = bound
        if breakpoint_.spec.condition is not None:
            self._access.breakpoint_conditions[-number] = (
                breakpoint_.id,
                breakpoint_.spec.condition,
            )
        return bound

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""
        if bound.backend_id is not None:
            self._known.pop(-bound.backend_id, None)
            self._access.breakpoint_conditions.pop(bound.backend_id, None)
            await self._access.run_raw(f"watchpoint delete {-bound.backend_id}", None)

    async def _evaluate_watched(self, expression: str, frame: Frame | None) -> Variable:
        return await self._access.evaluate(expression, frame, EvaluationPurpose.PRINT)

    async def _expression_anywhere(
        self, kind: str, address: int, size: int, frame: Frame | None
    ) -> str:
        """Write an expression for the value in any frame, by its type if that can be written."""
        typed = f"*({kind}){address:#x}"
        try:
            await self._evaluate_watched(typed, frame)
        except DebuggerError:
            return f"*({_INTEGERS.get(size, 'unsigned char')} *){address:#x}"
        return typed

    async def _set_watchpoint(
        self, expression: str, address: int, size: int, breakpoint_: Breakpoint, frame: Frame | None
    ) -> int:
        """Set the watchpoint on a variable, if there is one, else on its address.

        Returns: LLDB's number. A variable is tried first, since only then LLDB removes the
        watchpoint with the frame. A reference, or an expression that LLDB takes for another
        variable, is found by the address.
        """
        access, condition = breakpoint_.spec.access, breakpoint_.spec.condition
        # Three ways to set it, the best first:
        #
        # 1. `watchpoint set variable --watch modify`: LLDB itself compares old and new value, and
        #    removes the watchpoint with its frame. Not with a condition: LLDB then compares with
        #    the value at the last stop.
        # 2. `watchpoint set variable` with `write`, `read` or `read_write`, and the comparison as a
        #    part of the condition.
        # 3. `watchpoint set expression` on the address, for what is no variable, or a reference:
        #    LLDB would watch the reference itself. The address must really be the value's own.
        #
        # A watchpoint at another address than the value's is removed, and the next way is tried.
        if access is WatchAccess.WRITE and condition is None:
            text = await self._run_watch_command(
                "modify", f"variable -- {lldb_text.quote_word(expression)}", frame
            )
            watchpoint = lldb_text.parse_watchpoint(text)
            if watchpoint is not None and watchpoint.address == address:
                return watchpoint.id
            await self._delete_watchpoint(watchpoint)
        mode = {
            WatchAccess.WRITE: "write",
            WatchAccess.READ: "read",
            WatchAccess.ANY: "read_write",
        }[access]
        text = await self._run_watch_command(
            mode, f"variable -- {lldb_text.quote_word(expression)}", frame
        )
        watchpoint = lldb_text.parse_watchpoint(text)
        if watchpoint is None and "watch_size of 0" in text:
            raise _not_in_memory_error(expression)
        if watchpoint is None or watchpoint.address != address:  # no variable, or a reference
            await self._delete_watchpoint(watchpoint)
            await self._check_address(expression, address, frame)
            text = await self._run_watch_command(
                mode, f"expression --size {size} -- {address:#x}", frame
            )
            watchpoint = lldb_text.parse_watchpoint(text)
        if watchpoint is None:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{expression} cannot be watched: {lldb_text.parse_error(text) or text}",
                hint="debugger watch list; each takes a debug register of the processor",
            )
        try:
            await self._add_condition(watchpoint, condition, access, size)
        except DebuggerError:
            await self._delete_watchpoint(watchpoint)
            raise
        return watchpoint.id

    async def _run_watch_command(self, mode: str, words: str, frame: Frame | None) -> str:
        kind, _, rest = words.partition(" ")
        return await self._access.run_raw(f"watchpoint set {kind} --watch {mode} {rest}", frame)

    async def _delete_watchpoint(self, found: lldb_text.LldbWatchpoint | None) -> None:
        if found is not None:
            await self._access.run_raw(f"watchpoint delete {found.id}", None)

    async def _add_condition(
        self, found: lldb_text.LldbWatchpoint, condition: str | None, access: WatchAccess, size: int
    ) -> None:
        """Stop where the condition holds, for a read, or for a write that changed the value.

        x86-64 has no watchpoint for reads alone: an access that changed the value was no read. The
        last value is kept in a variable of LLDB's expressions, and the condition updates it.
        """
        parts = [f"({condition})"] if condition else []
        if access is not WatchAccess.ANY:
            # LLDB keeps such variables for the whole session: each has a name of its own.
            number = next(self._names)
            last, is_new = f"$watched{number}", f"$changed{number}"
            now = _write_number_expression(found.address, size)
            for line in (f"{_INTEGERS[8]} {last} = {now}", f"bool {is_new} = false"):
                answer = await self._access.run_raw(f"expression --language c++ -- {line}", None)
                if lldb_text.parse_error(answer):
                    raise DebuggerError(ErrorCode.EVALUATION_FAILED, answer, hint="debugger locals")
            not_ = "" if access is WatchAccess.WRITE else "!"
            # Before the user's condition: the last value has to be noted at every access.
            parts.insert(0, f"(({is_new} = ({last} != {now})), ({last} = {now}), {not_}{is_new})")
        if parts:
            quoted_condition = lldb_text.quote_word(" && ".join(parts))
            await self._access.run_raw(
                f"watchpoint modify --condition {quoted_condition} {found.id}", None
            )

    async def _check_address(self, expression: str, address: int, frame: Frame | None) -> None:
        """Refuse an address that is not the value's own.

        To take a register's address, LLDB copies the register to memory that it allocates for that.
        """
        region = lldb_text.parse_region(
            await self._access.run_raw(f"memory region {address:#x}", None)
        )
        if region is None or not region.is_readable:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{expression} is at {address:#x}, where no memory is mapped",
                hint="debugger print shows the pointers in it",
            )
        # Named memory (a file's, the stack, the heap) is the program's; LLDB allocates without a
        # name.
        if region.name:
            return
        names = _NAME.findall(_TEXT.sub("", expression))
        if not names and "*" not in expression:
            raise _not_in_memory_error(expression)  # a constant
        for name in dict.fromkeys(names):
            text = await self._access.run_raw(f"frame variable --location -- {name}", frame)
            # Of a variable in a register LLDB answers with the register's name.
            location = lldb_text.parse_location(text)
            if location is not None and not location.startswith("0x"):
                raise _not_in_memory_error(name)

    async def _report_disabled(self, stop: Stopped) -> None:
        """Report watchpoints that LLDB has disabled because their frame was left."""
        del stop
        if not self._known:
            return
        listed = lldb_text.parse_watchpoints(await self._access.run_raw("watchpoint list", None))
        for number, bound in list(self._known.items()):
            if not listed.get(number, False):
                del self._known[number]
                self._access.breakpoint_conditions.pop(-number, None)
                removed = BoundBreakpoint(
                    verified=False,
                    backend_id=bound.backend_id,
                    address=bound.address,
                    why=_SCOPE_ENDED,
                )
                self._access.report_event(BreakpointChanged(removed))


def _value_address(value: str) -> int:
    match = _POINTER.search(value)
    if match is None:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"no address: {value}",
            hint="debugger print shows the value",
        )
    return int(match[0], 16)


def _not_in_memory_error(expression: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{expression} is not in memory here, but in a register or a part of a byte",
        hint="compile without optimisation, or watch what a pointer points to",
    )


def _write_number_expression(address: int, size: int) -> str:
    """Write an expression that reads the bytes at an address as a number."""
    kind = _INTEGERS.get(size)
    if kind is not None:
        return f"*({kind} *){address:#x}"
    parts = (f"((unsigned long long)*(unsigned char *){address + at:#x} << {8 * at})"
             for at in range(size))  # fmt: skip
    return f"({' | '.join(parts)})"
