"""Defines where a step inspects its thread again, and what must hold there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from debugger.backends.inprocess.stepping import frame_identity
from debugger.backends.inprocess.stepping.instruction_decoding import DecodedInstruction
from debugger.backends.inprocess.stepping.line_walk import WalkState
from debugger.symbols.dwarf.location_evaluation import Reader, UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries


class MarkKind(IntEnum):
    """What a mark is there for; of several at one address the lowest is looked at first."""

    END = 1
    ENTERED = 2
    BACK = 3
    LANDED = 4
    CALL = 5
    JUMP = 6
    LEAP = 7


@dataclass(frozen=True, slots=True)
class StepMark:
    """An address, and what must hold of the thread that comes to it.

    `cfa` is the frame's own, `cfa_least` that of the frame or of one further out; `back` is where
    a function that was entered returns to. `script` is a condition for the agent where the others
    do not say it. `state` and `instruction` are what the step goes on with. `hidden` counts the
    inlined copies that begin there and that the step has not gone into.
    """

    address: int
    kind: MarkKind
    cfa: int | None = None
    cfa_least: int | None = None
    rsp: int | None = None
    rsp_least: int | None = None
    back: int | None = None
    script: str | None = None
    state: WalkState | None = None
    instruction: DecodedInstruction | None = None
    hidden: int = 0


def mark_condition(mark: StepMark, modules: LoadedBinaries) -> str | None:
    """Write what must hold as a condition for the agent, so that no other hit stops the thread.

    None where it cannot be written, or nothing need hold: `mark_holds` is asked in any case.
    """
    if mark.script is not None:
        return mark.script
    place = frame_identity.frame_address_rule(mark.address, modules)
    cfa = f"c.{place[0]}.add({place[1]})" if place is not None else None
    wanted = (
        ("c.rsp", "===", mark.rsp),
        ("c.rsp", ">=", mark.rsp_least),
        (cfa and f"{cfa}.sub(8).readPointer()", "===", mark.back),
        (cfa, "===", mark.cfa),
        (cfa, ">=", mark.cfa_least),
    )
    for value, how, word in wanted:
        if word is not None and value is not None:
            return f"((w) => (c) => {value}.compare(w) {how} 0)(ptr('{word:#x}'))"
    return None


def mark_holds(
    mark: StepMark, registers: Mapping[str, int], modules: LoadedBinaries, read: Reader
) -> bool:
    """Tell whether what must hold does; what cannot be known is taken to."""
    rsp = registers["rsp"]
    if not _value_fits(rsp, mark.rsp, mark.rsp_least):
        return False
    cfa = frame_identity.frame_address(registers, modules, read)
    if cfa is None:
        return True
    return _value_fits(cfa, mark.cfa, mark.cfa_least) and _returns_to_caller(cfa, mark.back, read)


def _value_fits(value: int, exactly: int | None, least: int | None) -> bool:
    return (exactly is None or value == exactly) and (least is None or value >= least)


def _returns_to_caller(cfa: int, back: int | None, read: Reader) -> bool:
    try:
        return back is None or int.from_bytes(read(cfa - 8, 8), "little") == back
    except UnreadableMemory:
        return True
