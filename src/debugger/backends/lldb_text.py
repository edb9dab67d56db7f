"""Parses the text of LLDB's command line, and quotes words for it. Pure.

Facts are of LLDB 19.1.7, x86-64.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import plain_function
from debugger.model.program import Register, RegisterGroup

# `0x7fff0010: 0x01 0x02 …`, a row for each few numbers.
_MEMORY = re.compile(r"^0x([0-9a-f]+):((?: 0x[0-9a-f]+)+)[^\S\n]*$", re.MULTILINE)
# A warning behind rows of which the last numbers are not from memory.
_PARTLY = re.compile(r"Not all bytes \((\d+)/\d+\) were able to be read")
# `[0x400000-0x401000) r-x /path PT_LOAD[0]`.
_REGION = re.compile(r"\[0x([0-9a-f]+)-0x([0-9a-f]+)\) ([-r][-w][-x])(?: (\S[^\n]*))?")
_GROUP = re.compile(r"^(?P<name>\S.*):\s*\Z")
# `       rip = 0x401136  prog`main + 4 at …`: only the number is taken. Vectors are in braces.
_REGISTER = re.compile(r"^\s+(?P<name>[\w.]+) = (?P<value>\{[^}]*\}|\S+)")
# `prog`main:`, before the first instruction of each function.
_FUNCTION = re.compile(r"^[^`\s]+`(?P<name>.+):\s*\Z")
# `->  0x401136 <+4>: movl …`; the arrow marks the program counter.
_INSTRUCTION = re.compile(r"^(?:->)?\s+0x(?P<address>[0-9a-f]+)(?: <\+\d+>)?:")
_WATCHED = re.compile(
    r"Watchpoint created: Watchpoint (?P<id>\d+): addr = 0x(?P<address>[0-9a-f]+)"
    r" size = (?P<size>\d+)"
)
_WATCHPOINT = re.compile(r"^Watchpoint (?P<id>\d+): addr = .* state = (?P<state>\w+)", re.MULTILINE)
_BREAKPOINT = re.compile(r"^Breakpoint (?P<id>\d+): ", re.MULTILINE)
# `[0x401136-0x40113d): /path/prog.c:4:9`, a row of the line table.
_LINE_RANGE = re.compile(
    r"^\[0x(?P<start>[0-9a-f]+)-0x[0-9a-f]+\): .*?:(?P<line>\d+)(?::\d+)?$", re.MULTILINE
)
_FUNCTION_RANGE = re.compile(
    r"^ *Function: .* range = \[0x(?P<start>[0-9a-f]+)-0x(?P<end>[0-9a-f]+)\)", re.MULTILINE
)
# LLDB 20 writes `ranges` for a function in several parts, with a bracket for each.
_RANGES = re.compile(r"^ *Function: .* ranges = \[[^)]*\)\[", re.MULTILINE)
_CODE = re.compile(r"^ *(?:Function|Symbol): ", re.MULTILINE)
_LINE_BOUNDS = re.compile(
    r"^ *LineEntry: \[0x(?P<start>[0-9a-f]+)-0x(?P<end>[0-9a-f]+)\): ", re.MULTILINE
)
# DW_OP_fbreg is a place on the stack; any other operator, a register or nowhere.
_VARIABLE = re.compile(r"^ *Variable: .* location = (?P<where>\w+)", re.MULTILINE)
# `  1.1: where = prog`main + 4 at prog.c:4:9, address = prog[0x1136], unresolved`.
_BREAKPOINT_LOCATION = re.compile(
    r"^ +(?P<id>\d+\.\d+): where = \S+?`(?P<where>.*?), address = "
    r"(?:(?P<module>[^\[\n]+)\[)?0x(?P<address>[0-9a-f]+)",
    re.MULTILINE,
)
# An offset from the function's beginning: the location is past the first instruction.
_OFFSET = re.compile(r" \+ \d+(?: |\Z)")
_LINE_ENTRY = re.compile(r"^ *LineEntry: \[[^)]*\): (?P<file>.+?):\d+", re.MULTILINE)
_LINE_NUMBER = re.compile(r"^ *LineEntry: \[[^)]*\): .+?:(\d+)", re.MULTILINE)
# ``Summary: prog`ns::work(int) + 4 at prog.cpp:7``.
_SUMMARY = re.compile(r"Summary: \S+?`(?P<name>.+?)(?: \+ \d+)?(?: at [^\n]*)?$", re.MULTILINE)
_DEMANGLED = re.compile(r" ---> (?:typeinfo for )?(?P<name>.+?)\s*\Z")
_LOCATION = re.compile(r"^(?P<where>[^\s:]+): \(", re.MULTILINE)


class LldbRegion(Struct, frozen=True):
    """A range of addresses; `name` is the file or the kind of the mapping, or ""."""

    start: int
    end: int
    is_readable: bool
    name: str = ""


class LldbBreakpointLocation(Struct, frozen=True):
    """One address of a breakpoint."""

    id: str
    address: int
    module: str | None  # a file that is not loaded yet
    is_in_function: bool  # behind the function's first instruction


class LldbWatchpoint(Struct, frozen=True):
    """A watchpoint as LLDB set it."""

    id: int
    address: int
    size: int  # bytes


def quote_word(word: str) -> str:
    """Quote a word for LLDB's command line.

    Raises:
        DebuggerError: USAGE for a control character: a newline would begin another command.
    """
    if any(ord(letter) < ord(" ") for letter in word):
        raise DebuggerError(ErrorCode.USAGE, f"a control character in {word!r}")
    # Within double quotes LLDB's command line knows these two escapes only.
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_memory(text: str, *, size: int = 1) -> list[int]:
    """Parse `memory read --format x`: numbers of `size` bytes, up to the first unreadable one."""
    values = [int(word, 16) for row in _MEMORY.finditer(text) for word in row[2].split()]
    partly = _PARTLY.search(text)
    return values[: int(partly[1]) // size] if partly else values


def parse_region(text: str) -> LldbRegion | None:
    """Parse `memory region`."""
    match = _REGION.search(text)
    if match is None:
        return None
    return LldbRegion(
        int(match[1], 16), int(match[2], 16), match[3][0] == "r", (match[4] or "").strip()
    )


def parse_registers(text: str) -> list[RegisterGroup]:
    """Parse `register read`; of a value with a symbol only the number remains."""
    groups: list[RegisterGroup] = []
    name, group_registers = "", list[Register]()
    # The last, empty head closes the last group.
    # A group ends where the next one begins.
    for line in [*text.splitlines(), ":"]:
        one = _REGISTER.match(line)
        if one:
            group_registers.append(Register(one["name"], _plain_value(one["value"])))
            continue
        group = _GROUP.match(line)
        if group or line == ":":
            if name and group_registers:
                groups.append(RegisterGroup(name, tuple(group_registers)))
            name, group_registers = (group["name"] if group else ""), []
    return groups


def _plain_value(value: str) -> str:
    try:
        return hex(int(value, 16))
    except ValueError:
        return value


def parse_functions(text: str) -> Mapping[int, str]:
    """Parse `disassemble`: the function of each instruction, by the instruction's address."""
    function_names: dict[int, str] = {}
    name = ""
    for line in text.splitlines():
        header = _FUNCTION.match(line)
        if header:
            # All instructions up to the next heading are of this function.
            name = plain_function(header["name"])
        one = _INSTRUCTION.match(line)
        if one and name:
            function_names[int(one["address"], 16)] = name
    return function_names


def parse_watchpoint(text: str) -> LldbWatchpoint | None:
    """Parse the answer of `watchpoint set`; None for an error."""
    match = _WATCHED.search(text)
    if match is None:
        return None
    return LldbWatchpoint(int(match["id"]), int(match["address"], 16), int(match["size"]))


def parse_watchpoints(text: str) -> Mapping[int, bool]:
    """Parse `watchpoint list`: whether each watchpoint is enabled, by number."""
    return {int(one["id"]): one["state"] == "enabled" for one in _WATCHPOINT.finditer(text)}


def parse_breakpoint_id(text: str) -> int | None:
    """Parse the answer of `breakpoint set`; None for an error."""
    match = _BREAKPOINT.search(text)
    return int(match["id"]) if match else None


def parse_line_addresses(text: str, line: int) -> list[int]:
    """Parse `source info`: the addresses at which the code of a line begins, in ascending order."""
    # A line has several ranges, as a loop's head: a set, since one address may be listed twice.
    addresses = {
        int(one["start"], 16) for one in _LINE_RANGE.finditer(text) if int(one["line"]) == line
    }
    return sorted(addresses)


def parse_function_range(text: str) -> tuple[int, int] | None:
    """Parse `image lookup --verbose --address`: the start and the end of the function."""
    match = _FUNCTION_RANGE.search(text)
    return (int(match["start"], 16), int(match["end"], 16)) if match else None


def is_misplaced_breakpoint(text: str) -> bool:
    """Parse `image lookup --verbose --address`: whether LLDB 20 misplaced a breakpoint there.

    LLDB 20 does so in functions of several ranges, or outside of any function.
    """
    return _RANGES.search(text) is not None or _CODE.search(text) is None


def parse_body_address(text: str) -> int | None:
    """Parse `image lookup --verbose --address`: the start of a body without a prologue mark.

    None unless the address is in the function's first line entry, and every variable is on the
    stack. That entry is then the code that stores the arguments. (Optimised code has its variables
    in registers from the start, and LLDB's address is right there.)
    """
    function, line = parse_function_range(text), _LINE_BOUNDS.search(text)
    if function is None or line is None or int(line["start"], 16) != function[0]:
        return None
    # Without any variable nothing tells optimised code: LLDB's address is kept.
    if {one["where"] for one in _VARIABLE.finditer(text)} != {"DW_OP_fbreg"}:
        return None
    second = int(line["end"], 16)
    # A function of one line entry has no second one: the next address is another function's.
    return second if second < function[1] else None


def parse_range_after_entry(text: str) -> range | None:
    """Parse `image lookup --verbose --address`: the rest of the function from the line on.

    None where the address is in the function's first line entry.
    """
    function, line = parse_function_range(text), _LINE_BOUNDS.search(text)
    if function is None or line is None or int(line["start"], 16) <= function[0]:
        return None
    return range(int(line["start"], 16), function[1])


def parse_breakpoint_locations(text: str) -> list[LldbBreakpointLocation]:
    """Parse `breakpoint list`: the locations."""
    return [
        LldbBreakpointLocation(
            one["id"], int(one["address"], 16), one["module"], bool(_OFFSET.search(one["where"]))
        )
        for one in _BREAKPOINT_LOCATION.finditer(text)
    ]


def parse_line_file(text: str) -> str | None:
    """Parse `image lookup --verbose --address`: the file of the line at the address."""
    match = _LINE_ENTRY.search(text)
    return match["file"] if match else None


def parse_line_number(text: str) -> int | None:
    """Parse `image lookup --verbose --address`: the number of the line at the address."""
    match = _LINE_NUMBER.search(text)
    return int(match[1]) if match else None


def parse_symbols(text: str) -> list[str]:
    """Parse `image lookup`: the symbols' names, without offset and location."""
    return [match["name"] for match in _SUMMARY.finditer(text)]


def parse_demangled(text: str) -> str | None:
    """Parse `language cplusplus demangle`; of a typeinfo symbol, the type's name."""
    match = _DEMANGLED.search(text)
    return match["name"] if match else None


def parse_location(text: str) -> str | None:
    """Parse `frame variable --location NAME`: an address, or a register."""
    match = _LOCATION.search(text)
    return match["where"] if match else None


def parse_error(text: str) -> str | None:
    """Return LLDB's error messages in a command's output; None without one."""
    # LLDB writes errors among the output, at a line's beginning.
    messages = [line.removeprefix("error: ") for line in text.splitlines() if "error: " in line[:7]]
    return "; ".join(messages) or None


# LLDB pads addresses, and writes behind the case of a Rust enum how it is stored.
_PADDED = re.compile(r'("(?:[^"\\]|\\.)*")|\b0x0+(?=[0-9a-f])')
_STORED = re.compile(r"(?:(?<= )(\w+))?\{\$variants\$:.*", re.DOTALL)
_NOT_AVAILABLE = re.compile(r"couldn't get the value of variable (\S+): variable not available")
_LOGGED_ERROR = re.compile(r"(?:\{Error: |error: )+(?:<user expression \d+>:\d+:\d+: )?([^\n\\]+)")


def read_logged_error(text: str) -> str | None:
    """Return the message of an error that a logpoint printed in place of a value, else None."""
    missing = _NOT_AVAILABLE.search(text)
    if missing is not None:
        return f"{missing[1]} is optimized out"
    failed = _LOGGED_ERROR.match(text)
    return failed[1].strip() if failed is not None else None


def clean_logged_value(text: str) -> str:
    """Remove LLDB's padding of addresses and its notes on how an enum is stored."""
    text = _PADDED.sub(lambda match: match[1] or "0x", text)
    return _STORED.sub(lambda match: f"{match[1] or ''}{{...}}", text)
