"""Puts the arguments of commands for memory, machine code and registers into our form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction

Result = ArrangedWords | Correction
SIMPLE_FORMAT: Final = re.compile(r"/(\d*)([a-zA-Z]*)\Z")
# The format of memory by gdb's letter and size.
_MEMORY_FORMATS: Final[Mapping[tuple[str, str], str]] = {
    ("x", "b"): "hex", ("x", "g"): "pointer", ("s", ""): "string", ("c", ""): "char",
    ("c", "b"): "char", ("a", ""): "pointer", ("a", "g"): "pointer", ("f", "w"): "f32",
    ("f", "g"): "f64", ("s", "b"): "string",
    **{("d", size): f"i{bits}" for size, bits in zip("bhwg", (8, 16, 32, 64), strict=True)},
    **{("u", size): f"u{bits}" for size, bits in zip("bhwg", (8, 16, 32, 64), strict=True)},
}  # fmt: skip
_SIZES: Final[Mapping[str, str]] = {"1": "b", "2": "h", "4": "w", "8": "g"}
_BITS: Final[Mapping[str, str]] = {"b": "8", "h": "16", "w": "32", "g": "64", "": "32"}


def correct(reason: str, *fixed: ArrangedWords) -> Correction:
    """Return a correction of whole commands, as typed in a shell."""
    return Correction(reason, tuple(one.to_typed_order() for one in fixed))


def arrange_memory(arranged: ArrangedWords) -> Result:  # noqa: C901, PLR0911 - one for each form
    """Turn `/16xb` or LLDB's `--size 1 --format x` into our format."""
    if (with_length := _take_length(arranged)) is not None:
        return with_length
    positionals = arranged.positionals
    if len(positionals) == len(("a", "16")) and positionals[1].isdecimal():
        counted = arranged.change(positionals=positionals[:1], add=[("--count", positionals[1:])])
        return correct("a length is --count", counted)
    words, count, letter, size = _split_format(positionals)
    is_gdb = len(words) < len(arranged.positionals)
    forms = arranged.role_values("--format")
    sizes = arranged.role_values("+size")
    if forms and len(forms[0]) == 1:
        letter = forms[0]
    elif forms and not is_gdb and not sizes:
        return arranged
    if sizes and sizes[0] not in _SIZES and sizes[0].isdecimal() and not count:  # of all of it
        return arranged.change(without=("+size",), add=[("--count", (sizes[0],))])
    if sizes:
        size = _SIZES.get(sizes[0], sizes[0])
    if not (is_gdb or sizes or letter):
        return arranged
    body = arranged.change(without=("--format", "+size"), positionals=[" ".join(words)])
    counted = body.change(add=[("--count", (count,))]) if count else body
    if letter == "i":
        return _as_instructions(arranged, words, count or "1")
    form = _MEMORY_FORMATS.get((letter or "x", size))
    if form == "hex" or not (letter or size):
        return counted
    if form == "string" and count not in {"", "1"}:
        return correct("one string at a time", body.change(add=[("--format", (form,))]))
    if form == "string":
        return body.change(add=[("--format", (form,))])
    if form is not None:
        return _with_format(body, form, count)
    fixed = _with_format(body, f"u{_BITS.get(size, '32')}", count)
    return correct(f"no format {letter}{size}", fixed)


def _take_length(arranged: ArrangedWords) -> Result | None:
    """Take WinDbg's `L8` behind an address, whose digits are hexadecimal, for a count."""
    words = arranged.positionals
    length = re.fullmatch(r"L(?:0x)?([0-9a-f]+)", words[-1]) if words[1:] else None
    if length is None:
        return None
    counted = arranged.change(positionals=words[:-1], add=[("--count", (str(int(length[1], 16)),))])
    return correct("a length is --count", counted)


def _split_format(positionals: tuple[str, ...]) -> tuple[list[str], str, str, str]:
    """Split `/16xb` off the words: its count, its letter, its size."""
    words = list(positionals)
    is_alone = len(words) == 1 and words[0].endswith("i")  # `x/5i` is at the stop
    match = SIMPLE_FORMAT.match(words[0]) if len(words) > 1 or is_alone else None
    if match is None:
        return words, "", "", ""
    letter = next((one for one in match[2] if one not in "bhwg"), "")
    size = next((one for one in match[2] if one in "bhwg"), "")
    return words[1:], match[1], letter, size


def _with_format(body: ArrangedWords, form: str, count: str) -> ArrangedWords:
    added = [("--format", (form,)), *([("--count", (count,))] if count else [])]
    return body.change(add=added)


def _as_instructions(arranged: ArrangedWords, words: list[str], count: str) -> Result:
    place = () if words in (["$pc"], ["$rip"]) else tuple(words)
    return ArrangedWords(
        ("disassemble",), arranged.command, (("--count", (count,)),), place, is_changed=True
    )


def arrange_disassemble(arranged: ArrangedWords) -> Result:
    """Take gdb's `/s`, LLDB's `--name`, and a length behind the address."""
    if (with_length := _take_length(arranged)) is not None:
        return with_length
    words = [*arranged.role_values("+address"), *arranged.positionals]
    if len(words) == 1 and words[0].isdecimal():  # `-n 10`
        counted = [("--count", (words[0],))]
        return arranged.change(without=("+address", "+nothing"), positionals=(), add=counted)
    added: list[tuple[str, tuple[str, ...]]] = []
    if {"+address", "+nothing"} & {flag for flag, _ in arranged.options}:
        arranged = arranged.change(without=("+address", "+nothing"), positionals=words)
    if words and (match := SIMPLE_FORMAT.match(words[0])):
        added = [("--source", ())] if set(match[2]) & {"s", "m"} else []
        words = words[1:]
        arranged = arranged.change(positionals=words, add=added)
    text = " ".join(words)
    if pair := re.fullmatch(r"(\S+?)(?:,\s*\S+|\s+(\d+))", text):
        counted = [("--count", (pair[2],))] if pair[2] else []
        fixed = arranged.change(positionals=[pair[1].rstrip(",")], add=counted)
        return correct("a length is --count, in instructions", fixed)
    return arranged


def arrange_registers(arranged: ArrangedWords) -> Result:
    """Take `$rip` for `rip`, and `--all` for all of them."""
    listed = [one for word in arranged.positionals for one in word.split(",") if one]
    words = tuple(one.removeprefix("$") for one in listed)
    if "+all" in {flag for flag, _ in arranged.options}:
        return arranged.change(without=("+all",), positionals=("all",))
    return arranged if words == arranged.positionals else arranged.change(positionals=words)
