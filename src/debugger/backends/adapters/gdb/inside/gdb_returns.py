"""Records the returns of functions of the program: by which statement, and when. Run inside gdb."""

from __future__ import annotations

import importlib
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")
snapshots: Any = importlib.import_module("gdb_snapshots")
rust: Any = importlib.import_module("gdb_rust")

_SAME_NAMES = 4
_LINES_MAX = 32  # of a function, the last ones
_CODE_MAX = 64 << 10  # bytes of a function that are searched for its return instructions
_SEARCHED_BETWEEN = 24
_OTHERS_MAX = 400  # calls by others, after which a function is not worth what each costs
_REGISTER = 8  # bytes
_IN_REGISTER = frozenset(
    {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM}
    | {gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_FLT}
)
_CALLS_BETWEEN = 3  # a container's own functions may lie between the caller and the function


class ReturnStatement(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at the statement that gives a function's value, before it is evaluated.

    The operands are read there: at the return itself the locals of inner blocks are gone.
    """

    def __init__(self, run: Any, plan: dict[str, Any], address: int, line: tuple[str, int]) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.key = plan["key"]
        # Several lines may begin at one instruction.
        self._line = line
        self._run, self._plan, self._hits = run, plan, 0

    def stop(self) -> bool:
        """Keep the stack for the return."""
        run = self._run
        if run.is_late():
            run.is_over = True
            return True
        if not is_called_by(self._plan):
            self._hits += 1
            return bool(self._plan["is_site"] and run.is_hot(self, self._hits, _OTHERS_MAX))
        if run.is_next_deep(self.key, is_site=self._plan["is_site"]):
            deep = run.plan["deep_frames"]
            frames = snapshots.read_frames(deep_frames=deep, is_write=False, line=self._line)
            run.statements[self.key, frames[0]["cfa"]] = frames
        else:
            run.statements[self.key, caller_address(gdb.newest_frame())] = []
        return False


class ReturnSite(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at a return instruction: the functions that the statement called are over."""

    def __init__(self, run: Any, plan: dict[str, Any], address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.key = plan["key"]
        self._run, self._is_site = run, plan["is_site"]

    def stop(self) -> bool:
        """Record the return by the last statement of this call."""
        run, key = self._run, self.key
        frames = run.statements.pop((key, caller_address(gdb.newest_frame())), None)
        if frames is None:
            return False
        registers = {"value": _read_bytes("rax"), "vector": _read_bytes("xmm0")}
        event = {**registers, "returned": _read_returned()}
        run.add_event(key, event, is_write=False, frames=frames, is_site=self._is_site)
        return bool(run.is_end_event(key)) or (self._is_site and run.is_hot(self, run.counts[key]))


def _read_bytes(register: str) -> str:
    """Return the first eight bytes of a register of the innermost frame, in hexadecimal."""
    value = gdb.newest_frame().read_register(register)
    number = value["v2_int64"][0] if register.startswith("xmm") else value
    return (int(number) % (1 << 64)).to_bytes(8, "little").hex()


def _read_returned() -> dict[str, Any] | None:
    """Return what the innermost function returns, if that lies in one register or in memory."""
    function = gdb.newest_frame().function()
    kind = function.type.target() if function is not None else None
    if kind is None:
        return None
    found: dict[str, Any] | None = None
    kind = kind.strip_typedefs()
    if kind.code in _IN_REGISTER and kind.sizeof <= _REGISTER:
        content = bytes.fromhex(_read_bytes("xmm0" if kind.code == gdb.TYPE_CODE_FLT else "rax"))
        found = snapshots.describe_value(gdb.Value(content[: kind.sizeof], kind))
    elif kind.code == gdb.TYPE_CODE_STRUCT:
        found = _describe_structure(kind)
    return found


def _describe_structure(kind: Any) -> Any:
    """Describe a returned structure: larger ones lie where rax points (System V, and Rust's own).

    A smaller one may be in registers by rules that its debug information does not tell.
    """
    try:
        if kind.sizeof > 2 * _REGISTER:
            address = int(gdb.newest_frame().read_register("rax"))
            found = snapshots.describe_value(gdb.Value(address).cast(kind.pointer()).dereference())
            return {**found, "address": 0} if found is not None else None  # the caller moves it
        return rust.describe_option(kind, _read_bytes("rax"))
    except gdb.error:
        return None


def caller_address(frame: Any) -> int:
    """Return the stack pointer of a frame's caller, which names the frame; 0 without one."""
    older = frame.older()
    return int(older.read_register("rsp")) if older is not None else 0


def is_called_by(plan: dict[str, Any]) -> bool:
    """Return whether the planned frame called: another one may lie at the same address."""
    if not plan["caller"] and not plan["caller_entry"]:
        return True
    frame = gdb.newest_frame()
    # What a search has found is called by a library's code, however deep that is.
    for number in range(_SEARCHED_BETWEEN if plan["calls"] else _CALLS_BETWEEN):
        frame = frame.older() if frame is not None else None
        if frame is None or frame.older() is None:
            return False
        if number >= _CALLS_BETWEEN and not _is_of_library(frame.find_sal().symtab):
            is_caller = int(frame.older().read_register("rsp")) == plan["caller"]
            return is_caller and plan["caller_function"] in {"", frame.name() or ""}
        if not plan["caller"]:
            if snapshots.entry_of(frame) == plan["caller_entry"]:
                return True
            continue
        if int(frame.older().read_register("rsp")) == plan["caller"]:
            return plan["caller_function"] in {"", frame.name() or ""}
    return False


def set_returns(run: Any) -> None:
    """Set the breakpoints of the planned functions' returns."""
    for one in run.plan["returns"]:
        for block in _function_blocks(one) if not one["calls"] else ():
            set_block_returns(run, one, block)


def set_block_returns(run: Any, plan: dict[str, Any], block: Any) -> None:
    """Set the breakpoints of the returns of one function."""
    try:
        for address, line in _returns_of(block, plan["lines"]):
            ReturnStatement(run, plan, address, (block.function.symtab.fullname(), line))
        for address in _return_instructions(block):
            ReturnSite(run, plan, address)
    except (gdb.error, RuntimeError) as error:
        run.result["notes"].append(f"no breakpoint in {block.function}: {error}")


def _function_blocks(plan: dict[str, Any]) -> list[Any]:
    known = [plan["entry"]] if plan["entry"] else []
    places = known or _own_functions(plan["function"], plan["file"])
    found = (snapshots.function_block(pc) for pc in places[:_SAME_NAMES])
    return [one for one in found if one is not None]


def _return_instructions(block: Any) -> list[int]:
    """Return the addresses of a function's return instructions."""
    if block.end - block.start > _CODE_MAX:
        return []
    code = gdb.selected_inferior().architecture().disassemble(block.start, block.end - 1)
    return [one["addr"] for one in code if re.match(r"(?:repz? )?ret", one["asm"])]


def _own_functions(function: str, source: str) -> list[int]:
    """Return the addresses of the program's own functions of a name, in any class or module."""
    try:
        _, places = gdb.decode_line(function)
    except gdb.error:
        places = None
    own = [one.pc for one in places or () if one.symtab and not _is_of_library(one.symtab)]
    if own:
        return own
    # gdb finds a name without its module in C++ alone.
    text = gdb.execute(f"info functions -q -n \\b{function}\\b", to_string=True)
    file = ""
    for line in text.splitlines():
        if line.startswith("File "):
            file = line[len("File ") : -1]
        match = re.match(rf"(\d+):.*\b{re.escape(function)}[(<]", line)
        if match and not snapshots.is_library(file):
            try:
                _, places = gdb.decode_line(f"{file}:{match[1]}")
            except gdb.error:
                continue
            own += [one.pc for one in places or ()]
    return own or _lambdas_of(function, source)


def _lambdas_of(name: str, file: str) -> list[int]:
    """Return the addresses of the lambdas that a source assigns to a name."""
    own = []
    pattern = re.compile(rf"\b{re.escape(name)}\s*=\s*\[")
    for number, text in enumerate(snapshots.statements.source_lines(file) if file else (), 1):
        if name not in text or not pattern.search(text):
            continue
        for line in range(number, number + 3):
            _, places = gdb.decode_line(f"{file}:{line}")
            own += [one.pc for one in places or () if _is_in_lambda(one.pc)]
    return own


def _is_in_lambda(pc: int) -> bool:
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block is not None and "operator()" in str(block.function)


def _is_of_library(symtab: Any) -> bool:
    return bool(snapshots.is_library(snapshots.source_of(symtab)))


def _returns_of(block: Any, planned: list[int]) -> list[tuple[int, int]]:
    """Return the addresses and lines of the statements that give a function's value.

    Of `planned` lines the caller knows by the source that they do.
    """
    table = block.function.symtab.linetable()
    lines = {one.line for one in table if block.start <= one.pc < block.end and one.line}
    file = block.function.symtab.fullname()
    text = snapshots.statements.source_lines(file)
    # `let best = f(); best` has code for its first part only.
    giving = {max((one for one in lines if one <= each), default=0) for each in planned}
    returns = [
        one
        for one in sorted(lines)
        if one in giving or (one <= len(text) and _is_return(text, one, file, max(lines)))
    ]
    entries = [one for one in table if block.start <= one.pc < block.end]
    if len(lines) == 1 and len(entries) > 1:
        # On one line gdb would stop before the first statement: the last code before a return is
        # that of `}`. What an exception unwinds lies behind it.
        last = [
            max(one.pc for one in entries if one.pc <= address)
            for address in _return_instructions(block)
        ]
        return [(one, max(lines)) for one in dict.fromkeys(last)]
    # By address: a lambda's own `return` may stand on a line of the function.
    places = {one.line: one.pc for one in sorted(entries, key=lambda each: -each.pc)}
    return [(places[one], one) for one in returns][-_LINES_MAX:]


def _is_return(text: tuple[str, ...], line: int, file: str, last: int) -> bool:
    plain = text[line - 1].split("//")[0].strip()
    if "return" in plain.replace(";", " ").replace("(", " ").split():
        return True
    # Rust's last expression is its value.
    is_expression = file.endswith(".rs") and not plain.endswith((";", "{", "}", ","))
    return is_expression and is_tail(text, line, last)


def is_tail(text: tuple[str, ...], line: int, last: int) -> bool:
    """Return whether nothing of a function runs after a line of it but the ends of its blocks."""
    depth = 0
    for number in range(line, min(last, len(text))):
        plain = text[number].split("//")[0].strip()
        closed = plain.startswith("}")
        if depth == 0 and plain and not closed:
            return False
        # `} else {` is not run after the block that it ends.
        depth += plain.count("{") - plain.count("}") + (closed and depth == 0)
        if closed and depth < 0:
            return False
    return True
