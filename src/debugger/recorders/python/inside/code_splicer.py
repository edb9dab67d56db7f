"""Puts hooks into the bytecode of a function that is no generator (CPython 3.11), fast.

A large project has thousands of functions, most of which never run; so instructions are not looked
at one by one. What is between two hooks is copied as it is, and only jumps are written anew.
"""

from __future__ import annotations

import opcode
from itertools import accumulate, compress
from opcode import hasjrel, opmap, opname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

# What faster code reads of calls itself (see `hooked_calls`), and how it tests and adds.
_NAMES = ("top", "kids", "spot", "owner", "count", "due", "outer", "began")
_LESS, _ADD = 0, 0
_JUMP, _RETURN, _RESUME, _YIELD = 1, 2, 3, 4
_BACKWARD = frozenset(op for op in hasjrel if "BACKWARD" in opname[op])
_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_CACHES: Any = vars(opcode)["_inline_cache_entries"]
_MARKS = bytearray(256)
for _op in hasjrel:
    _MARKS[_op] = _JUMP
_MARKS[opmap["RETURN_VALUE"]] = _RETURN
_MARKS[opmap["RESUME"]] = _RESUME
_MARKS[opmap["YIELD_VALUE"]] = _YIELD
_MARK_TABLE = bytes(_MARKS)
_ENTRY_STARTS = bytes(byte >> 7 for byte in range(256))  # of an entry of a location table
_LOAD = opmap["LOAD_CONST"]
_BACK = opmap["JUMP_BACKWARD_NO_INTERRUPT"]
_CALL = opmap["CALL"]  # PRECALL may have done its work, and passes over it
# The first byte of an entry of the location table, without its size.
_NO_LOCATION, _NO_COLUMNS = 0xF8, 0xE8
_ENTRY_UNITS = 8  # of such an entry
_instructions: dict[tuple[str, int], bytes] = {}
_LONG_JUMP = 3  # units of a jump whose distance is not known yet


def _instruct(name: str, arg: int = 0) -> bytes:
    """Return the bytecode of an instruction, with its caches."""
    return _instructions.get((name, arg)) or _make_instruction(name, arg)


def _make_instruction(name: str, arg: int) -> bytes:
    op = opmap[name]
    more = bytes((_EXTENDED_ARG, arg >> 8)) if arg > 255 else b""  # noqa: PLR2004 - a byte
    made = more + bytes((op, arg & 255)) + bytes(2 * _CACHES[op])
    if not more:
        _instructions[name, arg] = made
    return made


def _assemble(*steps: tuple[str, int]) -> bytes:
    return b"".join(_instruct(*one) for one in steps)


def _with_constant(number: int) -> bytes:
    """Return the instruction that puts a constant on the stack."""
    return bytes((_LOAD, number)) if number < 256 else _instruct("LOAD_CONST", number)  # noqa: PLR2004 - a byte


def _jump(name: str, passed: bytes) -> bytes:
    """Return a jump over some instructions."""
    return _instruct(name, len(passed) // 2)


_PUSH_NULL = _assemble(("PUSH_NULL", 0))
_POP_TOP = _assemble(("POP_TOP", 0))
_APPEND = _assemble(("SWAP", 2), ("LIST_APPEND", 1), ("POP_TOP", 0), ("POP_TOP", 0))
_CALL_START = _assemble(("PRECALL", 0), ("CALL", 0))
_CALL_ONE = _assemble(("PRECALL", 1), ("CALL", 1))
_CALL_RETURN = _assemble(("COPY", 4), ("COPY", 4), ("PRECALL", 2), ("CALL", 2), ("POP_TOP", 0))
_CALL_UNWIND = _assemble(
    ("COPY", 5), ("COPY", 5), ("COPY", 5), ("PRECALL", 3), ("CALL", 3), ("POP_TOP", 0)
)
_SWAP_MARK = _assemble(("SWAP", 2), ("COPY", 1))
_COPY_MARK = _assemble(("COPY", 3))
_CALL_LINE = _assemble(("PRECALL", 2), ("CALL", 2))
_MATCH = _assemble(("CHECK_EXC_MATCH", 0))
_AGAIN = _assemble(("RERAISE", 0))
_AGAIN_FROM = _assemble(("RERAISE", 1))
_DROP_AND_RETURN = _assemble(("POP_TOP", 0), ("RETURN_VALUE", 0))
_DROP_AND_RAISE = _assemble(("POP_TOP", 0), ("RERAISE", 1))


class CodeSplicer:
    """Puts the hooks into one code object; the arguments are those of `CodeRewriter`."""

    def __init__(
        self, hooks: Any, parts: Any, *, is_counted: bool = True, is_first: bool = True
    ) -> None:
        self._hooks = hooks
        self._code: CodeType = hooks.source
        self._parts = parts
        self._is_counted = is_counted
        self._is_first = is_first
        self._is_faster = is_counted and not is_first
        self._constants: list[Any] = []
        self._jumps: list[tuple[int, int, int]] = []  # the first and last unit, and the target
        self._returns: list[int] = []
        self._inserted: dict[int, bytes] = {}  # before the instruction that begins at a unit
        self._grown: dict[int, int] = {}  # EXTENDED_ARG before the jump that begins at a unit
        self._heads: list[int] = []  # by unit: where it is now, or what is inserted before it
        # By unit, of the hook that is called at a line, from its head: where it begins, where its
        # call begins and ends, and the depth of the stack.
        self._line_calls: dict[int, tuple[int, int, int, int]] = {}

    def splice(self) -> CodeType:
        """Return the code with hooks.

        Raises:
            BytecodeError: It is a generator's, or has a form that is not known.
        """
        code, parts = self._code, self._parts
        self._scan()
        handlers = parts.read_handlers(code.co_exceptiontable)
        self._start = self._start_hook() if self._is_counted else self._count_further()
        if self._hooks.hits is not None:
            for unit in self._find_leaders(handlers):
                self._insert_line(unit)
        elif self._is_first and "line" in self._hooks.callbacks:
            self._insert_line_calls(handlers)
        if self._is_counted:
            hook = self._return_hook()
            for unit in self._returns:
                if any(first <= unit < last for first, last, *_ in handlers):
                    raise parts.BytecodeError("a return has a handler")
                self._inserted[unit] = self._inserted.get(unit, b"") + hook
        self._place()
        tail, regions = self._write_tail(handlers) if self._is_counted else (b"", [])
        if not self._is_counted:
            regions = [
                (self._heads[first], self._heads[last], (self._heads[to], depth, is_numbered))
                for first, last, to, depth, is_numbered in handlers
            ]
        made: CodeType = code.replace(
            co_code=self._write_code() + tail,
            co_consts=(*code.co_consts, *self._constants),
            co_linetable=self._write_locations(len(tail) // 2),
            co_exceptiontable=parts.write_regions(regions),
            co_stacksize=code.co_stacksize + parts.HOOK_VALUES,
            co_names=(*code.co_names, *(_NAMES if self._is_faster else ())),
        )
        return made

    def _scan(self) -> None:
        """Find jumps, returns, and the entry."""
        text = self._code.co_code
        ops, args = text[::2], text[1::2]
        self._ops, self._args, self._units = ops, args, len(ops)
        self._entry = -1
        self._lines: list[int | None] = []
        self._changes: set[int] = set()  # units before which the source has another line
        for start, end, line in self._code.co_lines():
            if self._lines and self._lines[-1] != line:
                self._changes.add(start // 2)
            self._lines += [line] * ((end - start) // 2)
        marks = ops.translate(_MARK_TABLE)
        for unit in compress(range(self._units), marks):
            mark = marks[unit]
            if mark == _RETURN:
                self._returns.append(unit)
            elif mark == _JUMP:
                first, arg, shift = unit, args[unit], 8
                while first and ops[first - 1] == _EXTENDED_ARG:
                    first -= 1
                    arg |= args[first] << shift
                    shift += 8
                way = -arg if ops[unit] in _BACKWARD else arg
                self._jumps.append((first, unit, unit + 1 + way))
            elif self._entry >= 0 or mark == _YIELD:
                raise self._parts.BytecodeError("a generator")
            else:
                self._entry = unit

    def _find_leaders(self, handlers: Any) -> list[int]:
        """Return the units of instructions that may be the first of their line that runs."""
        lines, body = self._lines, self._entry + 1
        found = {body, *self._changes}
        found |= {to for _, _, to, _, _ in handlers}
        found |= {to for _, unit, to in self._jumps if lines[to] != lines[unit]}
        return [
            unit
            for unit in found
            if unit >= body and unit < len(lines) and lines[unit] and self._ops[unit] != _CALL
        ]

    # -- hooks -----------------------------------------------------------------------------------

    def _constant(self, value: Any) -> int:
        self._constants.append(value)
        return len(self._code.co_consts) + len(self._constants) - 1

    def _insert_line(self, unit: int) -> None:
        line = self._lines[unit]
        if not (self._is_first or self._hooks.is_line_left(line)):
            return
        guard = self._hooks.line_guard(line)
        if not self._inserted:
            self._hits = _with_constant(self._constant(self._hooks.hits))
        self._inserted[unit] = _line_hook(_with_constant(self._constant(guard)), self._hits)

    def _insert_line_calls(self, handlers: Any) -> None:
        """Call the hook of lines wherever one begins."""
        hooks, body, lines = self._hooks, self._entry + 1, self._lines
        edges = self._edges = self._parts.UnitEdges(
            self._ops, self._args, lines, self._jumps, handlers
        )
        depths = edges.find_depths(body)
        guard = _with_constant(self._constant(hooks.all_lines))
        callback = _PUSH_NULL + _with_constant(self._constant(hooks.callbacks["line"]))
        for unit in edges.find_begins(body, self._changes):
            if unit not in depths or self._ops[unit] == _CALL:
                continue
            call = callback + _instruct("COPY", depths[unit] + 3)
            call += _with_constant(self._constant(lines[unit])) + _CALL_LINE
            before = guard + _jump("POP_JUMP_FORWARD_IF_TRUE", call + _POP_TOP)
            passing = b""
            # Who comes from the same line passes by.
            if unit != body and unit not in self._changes and edges.goes_on(unit):
                passing = _jump("JUMP_FORWARD", before + call + _POP_TOP)
            first = len(passing + before) // 2
            last = first + len(call) // 2
            self._inserted[unit] = passing + before + call + _POP_TOP
            self._line_calls[unit] = (len(passing) // 2, first, last, depths[unit])

    def _find_entry(self, to: int, *, begins: bool) -> int:
        """Return where a way to a unit comes to, whether it begins the line or not."""
        if to not in self._line_calls:
            return self._heads[to]
        begin, _, last, _ = self._line_calls[to]
        return self._heads[to] + (begin if begins else last + 1)

    def _find_target(self, unit: int, to: int) -> int:
        """Return where a jump goes to."""
        if to not in self._line_calls:
            return self._heads[to]
        return self._find_entry(to, begins=self._edges.begins_by_jump(unit, to))

    def _field(self, name: str, *, is_set: bool = False) -> bytes:
        """Return the instruction that reads or sets an attribute of the uppermost value."""
        number = len(self._code.co_names) + _NAMES.index(name)
        return _instruct("STORE_ATTR" if is_set else "LOAD_ATTR", number)

    def _look_up_call(self) -> bytes:
        """Return what finds the call of a known path, and makes it the innermost one."""
        callbacks, copy = self._hooks.callbacks, _instruct("COPY", 1)
        found = _with_constant(self._constant(callbacks["threads"])) + _PUSH_NULL
        found += _with_constant(self._constant(callbacks["thread"])) + _CALL_START
        found += _instruct("BINARY_SUBSCR") + self._field("top") + self._field("kids")
        found += self._key + _instruct("BINARY_SUBSCR")
        self._looked_up = len(found) // 2
        found += copy + self._field("spot")
        found += copy + _instruct("COPY", 3) + self._field("owner")
        found += self._field("top", is_set=True)
        # One more: the call, its number, and that of the next one that is due.
        found += copy + self._field("count") + _with_constant(self._constant(1))
        found += _instruct("BINARY_OP", _ADD) + _instruct("SWAP", 2) + _instruct("COPY", 2)
        found += _instruct("SWAP", 2) + self._field("count", is_set=True)
        found += _instruct("COPY", 2) + self._field("due") + _instruct("COMPARE_OP", _LESS)
        due = _PUSH_NULL + _with_constant(self._constant(callbacks["counted"]))
        due += _instruct("COPY", 3) + _CALL_ONE + _instruct("SWAP", 2) + _POP_TOP
        found += _jump("POP_JUMP_FORWARD_IF_TRUE", due)
        self._due = (len(found) // 2, len(found + due) // 2)
        return found + due

    def _count_further(self) -> bytes:
        """Return what counts a call that is not followed."""
        return _take_one(self._constant(self._hooks.further), b"")

    def _call_with_key(self, name: str) -> bytes:
        """Return the call of a hook that gets the function's key."""
        callback = _with_constant(self._constant(self._hooks.callbacks[name]))
        return _PUSH_NULL + callback + self._key + _CALL_ONE

    def _start_hook(self) -> bytes:
        self._mark = _with_constant(self._constant(self._parts.NOT_REPORTED))
        self._key = _with_constant(self._constant(self._hooks.key))
        call = self._look_up_call() if self._is_faster else self._call_with_key("start")
        # What the budget's end comes to, and what a closed guard does.
        stop = self._call_with_key("stop") + _POP_TOP
        further = self._count_further()
        call += _jump("JUMP_FORWARD", stop + further + self._mark)
        budget = _take_one(self._constant(self._hooks.budget), call)
        guard = _with_constant(self._constant(self._hooks.calls))
        guard += _jump("POP_JUMP_FORWARD_IF_TRUE", budget + call + stop)
        before = len(guard + budget) // 2
        self._called = (before, before + len(call) // 2)
        self._stopping = (self._called[1], self._called[1] + len(stop) // 2)
        return guard + budget + call + stop + further + self._mark

    def _return_hook(self) -> bytes:
        name = "finish" if self._is_faster else "return"
        call = _PUSH_NULL + _with_constant(self._constant(self._hooks.callbacks[name]))
        call += _CALL_RETURN
        self._leaving = len(call) // 2
        if self._is_faster:
            copy = _instruct("COPY", 1)
            first = copy + self._field("outer") + _instruct("COPY", 2) + self._field("owner")
            first += self._field("top", is_set=True) + copy + self._field("began")
            call = first + _jump("POP_JUMP_FORWARD_IF_NONE", call) + call
        return _SWAP_MARK + _jump("POP_JUMP_FORWARD_IF_NONE", call) + call + _POP_TOP

    # -- writing ---------------------------------------------------------------------------------

    def _place(self) -> None:
        """Find where each unit comes to, until no jump needs more room."""
        sizes = [1] * self._units
        sizes[self._entry] += len(self._start) // 2
        for unit, made in self._inserted.items():
            sizes[unit] += len(made) // 2
        is_placed = False
        while not is_placed:
            self._heads = heads = list(accumulate(sizes, initial=0))
            is_placed = True
            for first, unit, to in self._jumps:
                distance = abs(self._find_target(unit, to) - heads[unit + 1])
                missing = max(distance.bit_length() - 1, 0) // 8 - (unit - first)
                more = missing - self._grown.get(first, 0)
                if more > 0:
                    self._grown[first] = missing
                    sizes[first] += more
                    is_placed = False

    def _write_code(self) -> bytes:
        text, heads = self._code.co_code, self._heads
        jumps = {first: (unit, to) for first, unit, to in self._jumps}
        body = self._entry + 1
        pieces = [text[: 2 * body], self._start]
        at = body
        for unit in sorted({*jumps, *self._inserted}):
            pieces += (text[2 * at : 2 * unit], self._inserted.get(unit, b""))
            at = unit
            if unit in jumps:
                last, to = jumps[unit]
                distance = abs(self._find_target(last, to) - heads[last + 1])
                for number in range(last - unit + self._grown.get(unit, 0), 0, -1):
                    pieces.append(bytes((_EXTENDED_ARG, distance >> 8 * number & 255)))
                pieces.append(bytes((self._ops[last], distance & 255)))
                at = last + 1
        pieces.append(text[2 * at :])
        return b"".join(pieces)

    def _write_tail(self, handlers: Any) -> tuple[bytes, list[Any]]:
        """Return what the hooks' errors and leaving exceptions go to, and all regions."""
        heads, hooks = self._heads, self._hooks
        end = heads[-1]
        match = _with_constant(self._constant(Exception)) + _MATCH
        # The error of a return hook: the function returns all the same.
        leave = match + _jump("POP_JUMP_FORWARD_IF_FALSE", _DROP_AND_RETURN)
        leave += _DROP_AND_RETURN + _AGAIN
        # The error of a start hook: the call counts as not reported.
        start = end + len(leave) // 2
        begin = self._write_handler(start, match, _POP_TOP + self._mark)
        first = heads[self._entry] + 1
        stopping: Any = (first + self._stopping[0], first + self._stopping[1], (start, 0, False))
        regions: list[Any] = [(first + self._called[0], first + self._called[1], (start, 0, False))]
        later: list[Any] = []
        if self._is_faster:
            begin, regions, later = self._write_looking_up(start, begin, match)
        regions.append(stopping)
        # An exception that leaves the function; an error of the hook changes nothing.
        call = _PUSH_NULL + _with_constant(self._constant(hooks.callbacks["unwind"]))
        call += _CALL_UNWIND
        unwind = _COPY_MARK + _jump("POP_JUMP_FORWARD_IF_NONE", call)
        unwinding = start + len(begin) // 2
        called = unwinding + len(unwind) // 2
        last = called + len(call) // 2
        tail = leave + begin + unwind + call + _AGAIN_FROM
        tail += match + _jump("POP_JUMP_FORWARD_IF_FALSE", _DROP_AND_RAISE)
        tail += _DROP_AND_RAISE + _AGAIN
        # The error of a line's hook: its line runs all the same.
        stubs: dict[int, tuple[int, int]] = {}
        handlers_of_lines = []
        at = end + len(tail) // 2
        head = self._begin_handler(match, _POP_TOP)
        for unit in self._line_calls:
            made = _go_on_from(head, at, self._find_entry(unit, begins=False))
            handlers_of_lines.append(made)
            stubs[unit] = (at, at + len(made) // 2)
            at = stubs[unit][1]
        tail += b"".join(handlers_of_lines)
        cuts = self._find_cuts(end, stubs)
        inner, around = self._find_regions(handlers, cuts, (unwinding, 1, True))
        regions += [*inner, *later, (called, last, (last + 1, 3, False))]
        for unit, (at, ends) in stubs.items():
            regions.append((at, ends, around[heads[unit] + self._line_calls[unit][1]]))
        return tail, [one for one in regions if one[0] < one[1] and one[2] is not None]

    def _find_cuts(self, leave: int, stubs: dict[int, tuple[int, int]]) -> list[Any]:
        """Return the regions of the hooks' calls, which have handlers of their own."""
        heads = self._heads
        cuts: list[Any] = []
        for unit in self._returns:
            at = heads[unit + 1] - 2  # of what drops the mark; the return follows
            cuts.append((at - self._leaving, at, (leave, 1, False)))
            cuts.append((at, at + 2, None))
        for unit, (_, first, last, depth) in self._line_calls.items():
            at = heads[unit]
            cuts.append((at + first, at + last, (stubs[unit][0], depth + 1, False)))
        return sorted(cuts, key=lambda one: one[:2])

    def _find_regions(
        self, handlers: Any, cuts: list[Any], outermost: Any
    ) -> tuple[list[Any], dict[int, Any]]:
        """Return the regions of the function's own code, and the handler around each cut."""
        heads = self._heads
        at, regions = heads[self._entry + 1], []
        runs: Any = [(region[0], region[1], region[2:], True) for region in handlers]
        if self._line_calls:
            runs = self._edges.handler_runs()
        for begins, ends, (to, depth, is_numbered), is_new in runs:
            handler = (self._find_entry(to, begins=is_new), depth + 1, is_numbered)
            regions += [(at, heads[begins], outermost), (heads[begins], heads[ends], handler)]
            at = heads[ends]
        regions.append((at, heads[-1], outermost))
        found: list[Any] = []
        around: dict[int, Any] = {}
        waiting = iter([*cuts, (heads[-1], heads[-1], None)])
        cut = next(waiting)
        for begins, ends, handler in regions:
            first = begins
            while cut[0] < ends:
                found += [(first, cut[0], handler), cut]
                around[cut[0]] = handler
                first, cut = cut[1], next(waiting)
            found.append((first, ends, handler))
        return found, around

    def _write_handler(self, at: int, match: bytes, act: bytes) -> bytes:
        """Return a handler at a unit that acts, and goes on with the function's own code."""
        return _go_on_from(self._begin_handler(match, act), at, self._heads[self._entry + 1])

    @staticmethod
    def _begin_handler(match: bytes, act: bytes) -> bytes:
        """Return a handler that acts, up to where it goes on."""
        return match + _jump("POP_JUMP_FORWARD_IF_FALSE", act + bytes(2 * _LONG_JUMP)) + act

    def _write_looking_up(
        self, start: int, begin: bytes, match: bytes
    ) -> tuple[bytes, list[Any], list[Any]]:
        """Return the handlers of a start without a hook, and the regions before and behind it."""
        at = start + len(begin) // 2
        missing = _with_constant(self._constant(KeyError)) + _MATCH
        call = self._call_with_key("first")
        first = self._write_handler(at, missing, _POP_TOP + call)
        calls = at + (len(missing) + len(_jump("NOP", b"")) + len(_POP_TOP)) // 2
        # What a due call's hook fails with changes nothing: the call goes on without a time.
        due_at = at + len(first) // 2
        due = self._write_handler(due_at, match, _POP_TOP)
        base = self._heads[self._entry] + 1 + self._called[0]
        regions = [
            (base, base + self._looked_up, (at, 0, False)),
            (base + self._due[0], base + self._due[1], (due_at, 1, False)),
        ]
        return begin + first + due, regions, [(calls, calls + len(call) // 2, (start, 0, False))]

    def _write_locations(self, tail: int) -> bytes:
        table = self._code.co_linetable
        starts = list(compress(range(len(table)), table.translate(_ENTRY_STARTS)))
        ends = accumulate([(table[at] & 7) + 1 for at in starts], initial=0)
        places = dict(zip(ends, [*starts, len(table)], strict=True))
        added = {unit: len(made) // 2 for unit, made in self._inserted.items()}
        for unit, count in self._grown.items():
            added[unit] = added.get(unit, 0) + count
        body = self._entry + 1
        added[body] = added.get(body, 0) + len(self._start) // 2
        pieces: list[bytes] = []
        at = 0
        for unit in sorted(added):
            if unit not in places:
                raise self._parts.BytecodeError("an entry of two instructions")
            # Where the line changes, the next instruction tells it; else a tracer of the program's
            # own would see the same line once more.
            is_same = unit != body and unit not in self._changes and self._lines[unit]
            location = _same_line(added[unit]) if is_same else _no_location(added[unit])
            pieces += (table[at : places[unit]], location)
            at = places[unit]
        return b"".join((*pieces, table[at:], _no_location(tail)))


def _go_on_from(head: bytes, at: int, to: int) -> bytes:
    """Return a handler at a unit that goes on with the function's own code, at another unit."""
    back = at + len(head) // 2 + _LONG_JUMP - to
    way = (_EXTENDED_ARG, back >> 16, _EXTENDED_ARG, back >> 8 & 255, _BACK, back & 255)
    return head + bytes(way) + _AGAIN


def _line_hook(guard: bytes, hits: bytes) -> bytes:
    """Return the hook of a line: it calls nothing, and cannot fail."""
    note = hits + _APPEND
    return guard + _jump("FOR_ITER", note) + note


def _take_one(iterator: int, passed: bytes) -> bytes:
    """Return what takes one of a constant iterator; at its end it passes over what follows."""
    taken = _POP_TOP + _POP_TOP
    return _with_constant(iterator) + _jump("FOR_ITER", taken + passed) + taken


def _same_line(units: int) -> bytes:
    full, rest = divmod(units, _ENTRY_UNITS)
    last = bytes((_NO_COLUMNS | rest - 1, 0)) if rest else b""
    return bytes((_NO_COLUMNS | _ENTRY_UNITS - 1, 0)) * full + last


def _no_location(units: int) -> bytes:
    full, rest = divmod(units, _ENTRY_UNITS)
    return b"\xff" * full + (bytes((_NO_LOCATION | rest - 1,)) if rest else b"")
