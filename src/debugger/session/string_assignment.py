"""Sets strings of C and C++ to a text, which their debuggers assign in few of its spellings."""

from __future__ import annotations

import re

from debugger.backends.abilities import MemoryAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, Frame, Variable
from debugger.session import machine_inspection
from debugger.session.session import Session

_ARRAY = re.compile(r"(?:const |volatile )*(?:signed |unsigned )?char ?\[(\d+)\]\Z")
_STRING = re.compile(r"(?:std::)?(?:__\w+::)*(?:basic_)?string\b(?!_view)(?!.*[*])")


async def assign_text(
    session: Session, target: str, value: str, kind: str, frame: Frame
) -> Variable | None:
    """Set a char array or a std::string to a text, with or without quotes.

    Returns None where the target is neither.

    Raises:
        DebuggerError: USAGE for a text that is too long, and what the backend raises.
    """
    array = _ARRAY.match(kind)
    if array is not None:
        await _write_array(session, target, _parse_literal(value), int(array[1]))
    elif _STRING.search(kind.removesuffix("&").strip()):
        if (frame.file or "").endswith(".rs"):
            raise not_of_rust(target)
        literal = _quote_literal(_parse_literal(value))
        try:
            return await session.backend.assign_value(target, literal, frame)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
        # gdb knows no conversion of a literal, but can call the string's own function.
        try:
            await session.backend.evaluate(
                f"({target}).assign({literal})", frame, EvaluationPurpose.EVALUATE
            )
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{target} is a std::string, whose own assign cannot be called here",
                hint="debugger start PROGRAM without --backend sets it; debugger call --help",
            ) from error
    else:
        return None
    return await session.backend.evaluate(target, frame, EvaluationPurpose.PRINT)


def not_of_rust(target: str) -> DebuggerError:
    """Return the refusal of a text for a Rust value: gdb 16 would copy a `&str` over a `String`."""
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{target} cannot be set to a text: its memory is Rust's to manage",
        hint="debugger set sets Rust's numbers, bools and chars",
    )


async def _write_array(session: Session, target: str, text: str, size: int) -> None:
    data = text.encode()
    if len(data) >= size:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{target} has room for {size - 1} bytes, and the text has {len(data)}",
            hint=f"debugger set {target} TEXT with a shorter one",
        )
    ability = session.backend.find_ability(MemoryAbility)
    await ability.write_memory(
        await machine_inspection.address_of(session, f"&{target}"), data.ljust(size, b"\0")
    )


def _parse_literal(value: str) -> str:
    stripped = value.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] == '"':
        return re.sub(r"\\(.)", r"\1", stripped[1:-1])
    return value


def _quote_literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
