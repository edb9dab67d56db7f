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
from debugger.backends.base import Rebound
from debugger.backends.lldb.inside import Inside
from debugger.core.breakpoints import Access, Bound, Breakpoint
from debugger.core.model import Frame, Purpose, Stopped, Variable
from debugger.errors import Code, DebuggerError

_BYTES_MAX = 8
_INTEGERS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_POINTER = re.compile(r"0x[0-9a-f]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_LEFT = "its frame has been left, and it is watched no more"


class Watchpoints:
    """`watchpoint set`; LLDB numbers watchpoints apart from breakpoints: ours are negative."""

    slots = 4  # debug registers, of x86-64; arm64 has as many at least

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._known: dict[int, Bound] = {}
        self._names = itertools.count(1)
        inside.checks.append(self._look)

    async def watch(self, wanted: Breakpoint, frame: Frame | None) -> Bound:
        """Set a watchpoint on the memory of an expression's value."""
        expression = (wanted.spec.watch or "").strip()
        pointer = await self._evaluate(f"&({expression})", frame)
        address = _address(pointer.value)
        size = int((await self._evaluate(f"sizeof({expression})", frame)).value)
        # For a larger one LLDB takes all free debug registers, and keeps them.
        if not 0 < size <= _BYTES_MAX:
            raise DebuggerError(
                Code.EVALUATION_FAILED,
                f"{expression} has {size} bytes, and a watchpoint {_BYTES_MAX} at most",
                hint="watch one of its members or elements; debugger print shows them",
            )
        again = await self._again(pointer.type, address, size, frame)
        found = await self._set(expression, address, size, wanted, frame)
        bound = Bound(verified=True, backend_id=-found, address=hex(address), again=again)
        self._known[found] = bound
        if wanted.spec.condition is not None:
            self._inside.conditions[-found] = (wanted.id, wanted.spec.condition)
        return bound

    async def unwatch(self, bound: Bound) -> None:
        """Remove a watchpoint."""
        if bound.backend_id is not None:
            self._known.pop(-bound.backend_id, None)
            self._inside.conditions.pop(bound.backend_id, None)
            await self._inside.raw(f"watchpoint delete {-bound.backend_id}", None)

    async def _evaluate(self, expression: str, frame: Frame | None) -> Variable:
        return await self._inside.evaluate(expression, frame, Purpose.PRINT)

    async def _again(self, kind: str, address: int, size: int, frame: Frame | None) -> str:
        """Write an expression for the value in any frame, by its type if that can be written."""
        typed = f"*({kind}){address:#x}"
        try:
            await self._evaluate(typed, frame)
        except DebuggerError:
            return f"*({_INTEGERS.get(size, 'unsigned char')} *){address:#x}"
        return typed

    async def _set(
        self, expression: str, address: int, size: int, wanted: Breakpoint, frame: Frame | None
    ) -> int:
        """Set the watchpoint on a variable, if there is one, else on its address.

        Returns: LLDB's number. A variable is tried first, since only then LLDB removes the
        watchpoint with the frame. A reference, or an expression that LLDB takes for another
        variable, is found by the address.
        """
        access, condition = wanted.spec.access, wanted.spec.condition
        if access is Access.WRITE and condition is None:
            text = await self._ask("modify", f"variable -- {lldb_text.quoted(expression)}", frame)
            found = lldb_text.watched(text)
            if found is not None and found.address == address:
                return found.id
            await self._take_back(found)
        mode = {Access.WRITE: "write", Access.READ: "read", Access.ANY: "read_write"}[access]
        text = await self._ask(mode, f"variable -- {lldb_text.quoted(expression)}", frame)
        found = lldb_text.watched(text)
        if found is None and "watch_size of 0" in text:
            raise _not_in_memory(expression)
        if found is None or found.address != address:  # no variable, or a reference
            await self._take_back(found)
            await self._check_place(expression, address, frame)
            text = await self._ask(mode, f"expression --size {size} -- {address:#x}", frame)
            found = lldb_text.watched(text)
        if found is None:
            raise DebuggerError(
                Code.EVALUATION_FAILED,
                f"{expression} cannot be watched: {lldb_text.error(text) or text}",
                hint="debugger watch list; each takes a debug register of the processor",
            )
        try:
            await self._add_condition(found, condition, access, size)
        except DebuggerError:
            await self._take_back(found)
            raise
        return found.id

    async def _ask(self, mode: str, words: str, frame: Frame | None) -> str:
        kind, _, rest = words.partition(" ")
        return await self._inside.raw(f"watchpoint set {kind} --watch {mode} {rest}", frame)

    async def _take_back(self, found: lldb_text.Watched | None) -> None:
        if found is not None:
            await self._inside.raw(f"watchpoint delete {found.id}", None)

    async def _add_condition(
        self, found: lldb_text.Watched, condition: str | None, access: Access, size: int
    ) -> None:
        """Stop where the condition holds, for a read, or for a write that changed the value.

        x86-64 has no watchpoint for reads alone: an access that changed the value was no read. The
        last value is kept in a variable of LLDB's expressions, and the condition updates it.
        """
        parts = [f"({condition})"] if condition else []
        if access is not Access.ANY:
            number = next(self._names)
            last, is_new = f"$watched{number}", f"$changed{number}"
            now = _number_at(found.address, size)
            for line in (f"{_INTEGERS[8]} {last} = {now}", f"bool {is_new} = false"):
                said = await self._inside.raw(f"expression --language c++ -- {line}", None)
                if lldb_text.error(said):
                    raise DebuggerError(Code.EVALUATION_FAILED, said, hint="debugger locals")
            not_ = "" if access is Access.WRITE else "!"
            parts.insert(0, f"(({is_new} = ({last} != {now})), ({last} = {now}), {not_}{is_new})")
        if parts:
            whole = lldb_text.quoted(" && ".join(parts))
            await self._inside.raw(f"watchpoint modify --condition {whole} {found.id}", None)

    async def _check_place(self, expression: str, address: int, frame: Frame | None) -> None:
        """Refuse an address that is not the value's own.

        To take a register's address, LLDB copies the register to memory that it allocates for that.
        """
        region = lldb_text.region(await self._inside.raw(f"memory region {address:#x}", None))
        if region is None or not region.is_readable:
            raise DebuggerError(
                Code.EVALUATION_FAILED,
                f"{expression} is at {address:#x}, where no memory is mapped",
                hint="debugger print shows the pointers in it",
            )
        if region.name:
            return
        names = _NAME.findall(_TEXT.sub("", expression))
        if not names and "*" not in expression:
            raise _not_in_memory(expression)  # a constant
        for name in dict.fromkeys(names):
            text = await self._inside.raw(f"frame variable --location -- {name}", frame)
            place = lldb_text.location(text)
            if place is not None and not place.startswith("0x"):
                raise _not_in_memory(name)

    async def _look(self, stop: Stopped) -> None:
        """Report watchpoints that LLDB has disabled because their frame was left."""
        del stop
        if not self._known:
            return
        listed = lldb_text.watchpoints(await self._inside.raw("watchpoint list", None))
        for number, bound in list(self._known.items()):
            if not listed.get(number, False):
                del self._known[number]
                self._inside.conditions.pop(-number, None)
                left = Bound(
                    verified=False,
                    backend_id=bound.backend_id,
                    address=bound.address,
                    why=_LEFT,
                )
                self._inside.tell(Rebound(left))


def _address(value: str) -> int:
    match = _POINTER.search(value)
    if match is None:
        raise DebuggerError(
            Code.EVALUATION_FAILED, f"no address: {value}", hint="debugger print shows the value"
        )
    return int(match[0], 16)


def _not_in_memory(expression: str) -> DebuggerError:
    return DebuggerError(
        Code.EVALUATION_FAILED,
        f"{expression} is not in memory here, but in a register or a part of a byte",
        hint="compile without optimisation, or watch what a pointer points to",
    )


def _number_at(address: int, size: int) -> str:
    """Write an expression that reads the bytes at an address as a number."""
    kind = _INTEGERS.get(size)
    if kind is not None:
        return f"*({kind} *){address:#x}"
    parts = (f"((unsigned long long)*(unsigned char *){address + at:#x} << {8 * at})"
             for at in range(size))  # fmt: skip
    return f"({' | '.join(parts)})"
