"""Converts the debugger's values to the values of answers. Pure, except for assigned refs."""

from __future__ import annotations

import itertools
import os.path
import re
from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from debugger.model import answers
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.program import Frame, Variable
from debugger.model.text_filters import clip_text
from debugger.model.value_refs import ValueRefs

VALUE_MAX = 2000  # characters
_POINTER = re.compile(r"0x[0-9a-f]+")
_TEXT_ADDRESS = re.compile(r'0x[0-9a-f]+ (?=")')
NAME_MAX = 200  # characters
_FIRST_CODE = 0x1000


def value_text(text: str, most: int = VALUE_MAX) -> str:
    """Shorten a value in its middle, with its full length."""
    return clip_text(text, most)


def variable_view(one: Variable, refs: ValueRefs, *, most: int = VALUE_MAX) -> answers.VariableView:
    """Convert a variable, with a ref if it has children."""
    return answers.VariableView(
        name=one.name[:NAME_MAX],
        value=value_text(one.value, most),
        type=one.type[:NAME_MAX],
        ref=refs.assign_name(one.handle) or UNSET,
        raw=value_text(one.raw, most) if one.raw is not None else UNSET,
    )


def frame_view(one: Frame) -> answers.FrameView:
    """Convert a frame."""
    return answers.FrameView(
        index=one.index,
        function=one.function[:NAME_MAX],
        file=one.file,
        line=one.line,
        column=one.column,
        address=one.address,
        module=one.module,
    )


def lost_callers(frames: Sequence[Frame]) -> str | None:
    """Return a note that callers are unknown, if a frame is in the first page of memory.

    LLDB fails to unwind a function of which gcc has moved a part elsewhere (`.cold`).
    """
    for inner, one in itertools.pairwise(frames):
        address = int(one.address, 16) if one.address and _POINTER.fullmatch(one.address) else 0
        if one.file is None and 0 < address < _FIRST_CODE:
            return (
                f"who called {inner.function[:NAME_MAX]} is not known: the debugger could not "
                f"follow the stack ({address:#x} is no code), so finish does not end there; where "
                "the compiler has split a function (-O2), --adapter gdb can"
            )
    return None


def breakpoint_view(one: Breakpoint, value: str | None = None) -> answers.BreakpointView:
    """Convert a breakpoint: the request and the result; for a watchpoint its `value`."""
    spec = one.spec
    is_watch = spec.kind is BreakpointKind.WATCHPOINT
    bound = one.bound or BoundBreakpoint(verified=False)
    is_unbound = spec.enabled and not bound.verified
    why = bound.why or ("the program does not run yet" if one.bound is None else "not bound yet")
    if is_watch and one.bound is None:
        why = f"it is set again when the program stops in {spec.function}"
    least = spec.hit_count or 0
    return answers.BreakpointView(
        id=one.id,
        kind=spec.kind.value,
        verified=bound.verified,
        file=_breakpoint_file(bound, spec),
        line=bound.line or spec.line,
        requested_line=spec.line,
        function=spec.function or bound.function,
        address=bound.address or spec.address,
        condition=spec.condition,
        hit_count=spec.hit_count if spec.rule is None else None,
        filter=spec.rule.text if spec.rule is not None else UNSET,
        log=spec.log,
        enabled=spec.enabled,
        temporary=spec.temporary,
        thread=spec.thread,
        hits=one.hits,
        hits_below=one.uncounted + least if least > 1 and one.hits == one.uncounted else UNSET,
        expression=spec.watch or UNSET,
        access=spec.access.value if is_watch else UNSET,
        value=value_text(value) if value is not None else UNSET,
        catch=spec.catch or UNSET,
        type=spec.type or UNSET,
        why_unbound=why if is_unbound else UNSET,
        nearest_lines=bound.nearest_lines if is_unbound and bound.nearest_lines else UNSET,
        near_names=bound.near_names if is_unbound and bound.near_names else UNSET,
        notes=_breakpoint_notes(one),
    )


def _breakpoint_notes(one: Breakpoint) -> tuple[str, ...] | UnsetType:
    """Return remarks on a breakpoint beside its location."""
    texts = [one.at.note if one.at is not None else None]
    if one.bound is not None and one.bound.verified:
        texts.append(one.bound.why)
    return tuple(each for each in texts if each) or UNSET


def _breakpoint_file(bound: BoundBreakpoint, spec: BreakpointSpec) -> str | None:
    """Return a breakpoint's file, with a relative path of the debug information resolved."""
    if bound.file and spec.file and os.path.isabs(spec.file) and not os.path.isabs(bound.file):
        return spec.file
    return bound.file or spec.file


def changed_values(
    before: Sequence[Variable], now: Sequence[Variable], refs: ValueRefs, *, most: int
) -> tuple[answers.ChangedValue, ...]:
    """Return the variables with a changed value, and the new ones.

    Of several with one name, an inner one hides an outer one: each is compared with itself. If one
    has come into scope or left it, the identity of the others is unknown.
    """
    old, new = _by_name(before), _by_name(now)
    places = {name: iter(values) for name, values in old.items()}
    found = []
    for one in now:
        previous = None
        if one.name in old:
            if len(old[one.name]) != len(new[one.name]):
                continue
            previous = next(places[one.name])
            if not _shown_values_differ(previous, one.value):
                continue
        found.append(
            answers.ChangedValue(
                name=one.name[:NAME_MAX],
                previous=value_text(previous, most) if previous is not None else None,
                value=value_text(one.value, most),
                type=one.type[:NAME_MAX],
                ref=refs.assign_name(one.handle) or UNSET,
            )
        )
    return tuple(found)


def _by_name(variables: Sequence[Variable]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in variables:
        found.setdefault(one.name, []).append(one.value)
    return found


def _shown_values_differ(before: str, now: str) -> bool:
    """Return whether two values differ in the part that both show.

    lldb-dap 19 limits a summary to a few milliseconds: on a busy machine it ends earlier, in
    `...}`.
    """
    if before == now:
        return False
    shorter, longer = sorted((before, now), key=len)
    if longer.startswith(f"{shorter} {{") and _POINTER.fullmatch(shorter):
        return False  # the same pointer; what it points to is in one of them alone
    if not (before.endswith("...}") or now.endswith("...}")):
        return True
    # A text that was cut has its address, too, which a whole one has not.
    shown = [_TEXT_ADDRESS.sub("", one) for one in (before, now)]
    return not any(
        cut.endswith("...}") and other.startswith(cut.removesuffix("...}"))
        for cut, other in (shown, shown[::-1])
    )
