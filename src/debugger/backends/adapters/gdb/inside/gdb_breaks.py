"""Decides when a breakpoint of gdb's stops, and what it prints. Run inside gdb.

gdb 16.3 refuses a condition that names what is not there, stops where one cannot be evaluated, and
has no conditions for logpoints. So conditions, counts and texts are judged here.
"""

from __future__ import annotations

import importlib
import re
from contextlib import nullcontext
from typing import Any

gdb: Any = importlib.import_module("gdb")
server: Any = importlib.import_module("gdb.dap.server")
startup: Any = importlib.import_module("gdb.dap.startup")
breakpoints: Any = importlib.import_module("gdb.dap.breakpoint")

_HOLE = re.compile(r"\{(.*?)\}")
# Bytes that one debug register of x86-64 may watch, each aligned to its length.
_LENGTHS = (8, 4, 2, 1)
_SLOTS = 4
_RED_ZONE = 128  # bytes below the stack pointer that are a frame's (System V ABI, 3.2.2)
_SCOPE_ENDED = "its frame has been left, and it is watched no more"

# Languages whose casts gdb writes otherwise than C's: a value at an address has C's type there.
_OTHER_CASTS = frozenset({"fortran", "ada", "d", "pascal", "modula-2"})
_C_TYPES = {
    (gdb.TYPE_CODE_FLT, 4): "float",
    (gdb.TYPE_CODE_FLT, 8): "double",
    (gdb.TYPE_CODE_INT, 1): "signed char",
    (gdb.TYPE_CODE_INT, 2): "short",
    (gdb.TYPE_CODE_INT, 4): "int",
    (gdb.TYPE_CODE_INT, 8): "long",
    (gdb.TYPE_CODE_CHAR, 1): "char",
    (gdb.TYPE_CODE_BOOL, 1): "signed char",
    (gdb.TYPE_CODE_BOOL, 4): "int",
}
_C_NAMES = "|".join(dict.fromkeys([*_C_TYPES.values(), "unsigned char"]))
# Watched memory as `_address_expression` writes it, whatever the language of the selected frame is.
_AT_ADDRESS = {
    "c": re.compile(rf"\*\((?:{_C_NAMES}) (?:\*|\(\*\)\[\d+\])\) 0x[0-9a-f]+"),
    "ada": re.compile(r"\{[\w.]+\} 16#[0-9a-f]+#(?:@\d+)?"),
}
# Where a panic goes through; gdb knows it by its full name, and of old Rust by the plain one.
_PANIC = ("std::panicking::rust_panic", "rust_panic")
_KINDS = {
    "write": gdb.WP_WRITE,
    "read": gdb.WP_READ,
    "readWrite": gdb.WP_ACCESS,
}


class _FunctionCalls:
    """Whether gdb calls a function of the program's."""

    now = 0


def _on_call(event: Any) -> None:
    # Counted: a called function may be evaluated within another evaluation.
    _FunctionCalls.now += 1 if isinstance(event, gdb.InferiorCallPreEvent) else -1


class JudgedBreakpoint(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint, logpoint or watchpoint whose condition and count are judged here.

    gdb's own `condition` and `ignore_count` stay empty: it refuses both beside a `stop` of ours, or
    counts hits whose condition does not hold.
    """

    def __init__(self, *, text: str | None = None, **where: Any) -> None:
        super().__init__(**where)
        self.is_function = where.get("function") is not None
        self._text = text
        self._condition: str | None = None
        self._ignore_left = 0
        self.is_over = False  # of a watchpoint: its frame has been left

    @property
    def condition(self) -> str | None:
        """What must hold for it to count."""
        return self._condition

    @condition.setter
    def condition(self, condition: str | None) -> None:
        self._condition = condition

    @property
    def ignore_count(self) -> int:
        """How many hits are still to be passed."""
        return self._ignore_left

    @ignore_count.setter
    def ignore_count(self, count: int) -> None:
        self._ignore_left = count

    # gdb calls this at each hit, with the thread selected, and goes on by itself if it is False.
    # The order is that of gdb's own conditions and counts:
    #
    # 1. A watchpoint whose frame was left, hits in functions that gdb itself calls, and a line of
    #    the function that begins a Fortran program never count.
    # 2. The condition. Where gdb cannot evaluate it, the stop is left to our own side to judge,
    #    which knows more of Rust and of C++'s containers; at a logpoint, a watchpoint, or with hits
    #    still to pass it is reported, and counts as false.
    # 3. The hit count.
    # 4. A logpoint writes its text and goes on; any other breakpoint is noted in `held`, by which
    #    `described` knows which of several at this address has really stopped.
    #
    # gdb's stop method must not resume or change breakpoints (gdb manual: Breakpoints In Python).
    def stop(self) -> bool:
        """Return whether to stop, at each hit."""
        if self.is_over or _FunctionCalls.now > 0 or self._is_in_fortran_start():
            return False
        if not self._condition_holds():
            return False
        if self._ignore_left > 0:
            self._ignore_left -= 1
            return False
        if self._text is None:
            _state.held.add(self.number)
            return True
        server.send_event("output", {"category": "console", "output": self._fill_log(self._text)})
        return False

    def _is_in_fortran_start(self) -> bool:
        """Return whether a line is met in C's `main`, which has the line of the program's last one.

        gfortran writes it before the program's own, and no variable is known in it.
        """
        if self.is_function or self.type != gdb.BP_BREAKPOINT:
            return False
        frame = gdb.selected_frame()
        function = frame.function()
        is_start = function is not None and function.linkage_name == "main"
        return is_start and frame.language() == "fortran"

    def _condition_holds(self) -> bool:
        if self._condition is None:
            return True
        try:
            _state.check_names(self._condition)
            return bool(gdb.parse_and_eval(self._condition))
        # As an output event: our own side reports it, with the breakpoint's number found by its
        # text.
        except Exception as error:  # noqa: BLE001 - gdb raises RuntimeError, too
            if self.type == gdb.BP_BREAKPOINT and self._text is None and not self._ignore_left:
                return True
            text = f"[[condition]] {self._condition.strip()}: {error}"
            server.send_event("output", {"category": "console", "output": text})
            return False

    @staticmethod
    def _fill_log(text: str) -> str:
        def value(hole: re.Match[str]) -> str:
            try:
                _state.check_names(hole[1])
                return str(gdb.parse_and_eval(hole[1]).format_string(max_elements=50))
            except Exception as error:  # noqa: BLE001 - gdb raises RuntimeError, too
                return f"<{error}>"

        return _HOLE.sub(value, text)


def _create_breakpoint(*, logMessage: str | None = None, **where: Any) -> Any:  # noqa: N803 - DAP's name
    if where.get("function") == _PANIC[-1]:
        # One that exists; without any, the last one, which stays pending until a library has it.
        where["function"] = next(filter(_is_there, _PANIC), _PANIC[-1])
    return JudgedBreakpoint(text=logMessage, **where)


def _function_breakpoint(
    *,
    name: str,
    condition: str | None = None,
    hitCondition: str | None = None,  # noqa: N803 - DAP's name
    logMessage: str | None = None,  # noqa: N803 - as for a line; the protocol has none here
    **_more: Any,
) -> dict[str, Any]:
    """Return what to set a function breakpoint with; gdb's own forgets the text to log."""
    shown = {"function": name, "condition": condition, "hitCondition": hitCondition}
    return {**shown, "logMessage": logMessage} if logMessage is not None else shown


def _is_there(function: str) -> bool:
    try:
        gdb.decode_line(function)
    except gdb.error:
        return False
    return True


# The breakpoints of each list, by what they are on, and the how manieth of that.
_lists: dict[str, dict[tuple[frozenset[Any], int], Any]] = {}


def _set_list(kind: str, specs: list[dict[str, Any]], creator: Any) -> list[dict[str, Any]]:
    """Replace a list of breakpoints; those that are wanted again stay.

    gdb's own loses the first of two on the same place, which then stays for good.
    """
    # The list's new state is compared with the old by what a breakpoint is on: equal ones keep
    # their gdb number and their hits. Two on the same location are told apart by their order.
    before = _lists.get(kind, {})
    now = _lists[kind] = {}
    listed = []
    with breakpoints.suppress_new_breakpoint_event():
        for spec in specs:
            # Conditions may change without a new breakpoint: they are no part of the key.
            more = {name: spec.pop(name, None) for name in ("condition", "hitCondition")}
            number, place = 0, frozenset(spec.items())
            while (place, number) in now:
                number += 1
            known = before.pop((place, number), None)
            try:
                if known is None or not known.is_valid():
                    known = creator(**spec)
                now[place, number] = known
                known.condition = more["condition"]
                known.ignore_count = int(more["hitCondition"] or 0)
                # gdb's own description, as in its answers and events.
                listed.append(breakpoints._breakpoint_descriptor(known))  # noqa: SLF001
            except Exception as error:  # noqa: BLE001 - gdb raises RuntimeError and its own
                listed.append({"verified": False, "reason": "failed", "message": str(error)})
        for known in before.values():
            if known.is_valid():
                known.delete()
    return listed


def _count_debug_registers(address: int, size: int) -> int:
    """Count the debug registers that so many bytes take: each watches 1, 2, 4 or 8, aligned."""
    count = 0
    while size > 0:
        step = next(one for one in _LENGTHS if one <= size and address % one == 0)
        address, size, count = address + step, size - step, count + 1
    return count


class _ScopeEnd(gdb.FinishBreakpoint):  # type: ignore[misc]
    """Where a frame returns to: what is watched in it ends there."""

    def __init__(self, frame: Any, watch: JudgedBreakpoint) -> None:
        super().__init__(frame, internal=True)
        # Nothing is printed where it is passed.
        self.silent = True
        self._watch = watch

    def stop(self) -> bool:
        """End the watchpoint, and go on."""
        self.out_of_scope()
        return False

    def out_of_scope(self) -> None:
        """End the watchpoint of a frame that was left, by an exception too."""
        if self._watch.is_over or not self._watch.is_valid():
            return
        self._watch.is_over = True
        body = {"id": self._watch.number, "verified": False, "message": _SCOPE_ENDED}
        server.send_event("breakpoint", {"reason": "changed", "breakpoint": body})


def _end_with_frame(watch: JudgedBreakpoint, frame: Any, address: int) -> None:
    """Have a watchpoint end with a frame, where it watches memory of that."""
    caller = frame.older() if frame is not None else None
    if caller is None:
        return
    # Memory of the frame lies between its stack pointer and the caller's. Above that it is the
    # caller's, below nobody's; a global or the heap is elsewhere.
    bottom = int(frame.read_register("sp")) - _RED_ZONE
    if bottom <= address < int(caller.read_register("sp")):
        try:
            _ScopeEnd(frame, watch)
        except (ValueError, gdb.error):
            return  # the outermost frame returns nowhere


_state: Any = None
_watches: dict[int, tuple[Any, int]] = {}  # by number, with their count of debug registers


def _set_watchpoint(**given: Any) -> dict[str, Any]:
    """Watch the memory that an expression names.

    Raises:
        DAPException: it cannot be evaluated, has no address, or the debug registers do not do.
    """
    frame = given.get("frameId")
    if frame is not None:
        importlib.import_module("gdb.dap.frames").select_frame(frame)
    expression = given["expression"]
    if frame is not None:
        _state.check_names(expression)
    with language_of(expression):
        value = startup.parse_and_eval(expression, global_context=frame is None)
    # A reference is watched as what it refers to: its own pointer never changes.
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    if value.address is None:
        raise startup.DAPException(f"{expression} has no address: it is computed or in a register")
    address, size = int(value.address), value.type.sizeof
    # gdb itself checks the number only when the program is continued, and fails then.
    need = _count_debug_registers(address, size)
    for number in [number for number, (one, _) in _watches.items() if one.is_over]:
        _remove_watchpoint(id=number)
    free = _SLOTS - sum(taken for one, taken in _watches.values() if one.is_valid())
    if need > free:
        raise startup.DAPException(
            f"{expression} has {size} bytes and needs {need} hardware watchpoints; {free} are free"
        )
    # On the address, not on the name: it is the same in every frame, and its end with the frame is
    # ours (`_ScopeEnd`).
    place = _address_expression(value.type, address)
    kind = _KINDS[given["accessType"]]
    with language_of(place):
        watch = JudgedBreakpoint(spec=place, type=gdb.BP_WATCHPOINT, wp_class=kind)
    # BP_HARDWARE_WATCHPOINT has another number; a software one is thousands of times slower.
    if watch.type == gdb.BP_WATCHPOINT:  # without hardware gdb would step the program
        watch.delete()
        raise startup.DAPException(f"gdb cannot watch {expression} by hardware")
    watch.condition = given.get("condition")
    if frame is not None:
        _end_with_frame(watch, gdb.selected_frame(), address)
    _watches[watch.number] = (watch, need)
    return {"id": watch.number, "address": hex(address), "again": place}


def _address_expression(kind: Any, address: int) -> str:
    """Return an expression for a value at an address, in any frame."""
    language = gdb.selected_frame().language()
    typed = f"*({kind.unqualified().pointer()}) {address:#x}"
    whole_bytes = f"*(unsigned char (*)[{kind.sizeof}]) {address:#x}"
    if language == "ada":
        return _ada_address_expression(kind, address) or whole_bytes
    if language in _OTHER_CASTS:
        return _c_address_expression(kind.strip_typedefs(), address) or whole_bytes
    if language == "rust":
        typed = f"*({address:#x} as *mut {kind.unqualified()})"
        whole_bytes = f"*({address:#x} as *mut [u8; {kind.sizeof}])"
    try:
        gdb.parse_and_eval(typed)
    except gdb.error:  # a type that cannot be written; its bytes can
        return whole_bytes
    return typed


def _c_address_expression(kind: Any, address: int) -> str | None:
    """Return C's expression for a number or a row of numbers; None for another type."""
    pointer = "*"
    if kind.code in (gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRING):
        element = kind.target().strip_typedefs()
        pointer = f"(*)[{kind.sizeof // (element.sizeof or 1)}]"
        kind = element
    plain = _C_TYPES.get((kind.code, kind.sizeof))
    return f"*({plain} {pointer}) {address:#x}" if plain is not None else None


def _ada_address_expression(kind: Any, address: int) -> str | None:
    """Return Ada's expression for a value at an address; None for a type without a name."""
    count = ""
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        kind, count = kind.target(), f"@{high - low + 1}"
    typed = f"{{{kind.unqualified()}}} 16#{address:x}#{count}"
    try:
        gdb.parse_and_eval(typed)
    except gdb.error:
        return None
    return typed


def language_of(expression: str) -> Any:
    """Return the context in which gdb understands an expression of watched memory."""
    # The frame need not tell: before the program's beginning gdb takes that of its main function,
    # and a library's function that writes the memory is C's.
    for language, pattern in _AT_ADDRESS.items():
        if pattern.fullmatch(expression):
            return gdb.with_parameter("language", language)
    return nullcontext()


def _remove_watchpoint(**given: Any) -> None:
    known = _watches.pop(given["id"], None)
    if known is not None and known[0].is_valid():
        known[0].delete()


def begin(state: Any, replaced: Any) -> None:
    """Take over how breakpoints are made."""
    global _state  # noqa: PLW0603 - there is one program
    _state = state
    state.language_of = language_of
    breakpoints._set_one_breakpoint = _create_breakpoint  # noqa: SLF001 - gdb has no other way
    breakpoints._rewrite_fn_breakpoint = _function_breakpoint  # noqa: SLF001 - the same
    known = "_set_breakpoints_callback"  # gdb 18 has it under a shorter name
    setattr(breakpoints, known if hasattr(breakpoints, known) else "_set_breakpoints", _set_list)
    gdb.events.inferior_call.connect(_on_call)
    replaced("debuggerWatch", _set_watchpoint)
    replaced("debuggerUnwatch", _remove_watchpoint, expect_stopped=False)
