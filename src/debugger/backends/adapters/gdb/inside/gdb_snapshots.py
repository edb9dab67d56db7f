"""Reads the stack, the operands of a statement and the heap of a stopped program. Run inside gdb.

Nothing here calls a function of the program: `may-call-functions` is off.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")
regions: Any = importlib.import_module("gdb_memory")
paths: Any = importlib.import_module("gdb_paths")
texts: Any = importlib.import_module("gdb_texts")
statements: Any = importlib.import_module("gdb_statements")
operands_of, parts_of = statements.operands_of, statements.parts_of

_LEVELS = 24  # frames of a stack
_DEEP = 4  # frames whose operands are read
_LOCALS = 24  # of one frame
_TEXT = 96  # characters of a value
_BYTES = 16  # bytes of a value
_FIELDS_MAX = 40  # of a struct
_STRUCT_BYTES = 512  # bytes of a struct, in which a copied value is searched
_LIBRARIES = ("/usr/include/", "/usr/lib/", "/rustc/", "/rust/deps/", "/usr/src/", "/build/")
_REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
_FIELD = re.compile(r"\w+->\w+")
_ENDED_STEP = re.compile(r"(->|\.)(\w+)")
_ENDED_PATH = re.compile(rf"(?P<root>[A-Za-z_]\w*)(?P<steps>(?:{_ENDED_STEP.pattern})*)")

# By the begin of a type's name: the paths to what says that it is empty, in libstdc++ and libc++.
_EMPTINESS = {
    "std::optional<": ("_M_payload._M_engaged", "__engaged_"),
    "std::__1::optional<": ("__engaged_",),
    "std::function<": ("_M_manager", "__f_.__f_"),
    "std::__1::function<": ("__f_.__f_",),
}


def read_frames(
    *, deep_frames: int = _DEEP, is_write: bool, line: tuple[str, int] | None = None
) -> list[dict[str, Any]]:
    """Return the stack, with the operands of some of the program's own frames.

    With `is_write` the innermost pc is behind the instruction that wrote. The innermost frame is at
    `line`, if it is in that file.
    """
    found: list[dict[str, Any]] = []
    frame = gdb.newest_frame()
    deep = 0
    while frame is not None and len(found) < _LEVELS:
        is_return = bool(found) and found[0]["pc"] != frame.pc()
        one = _read_frame(frame, is_written=is_write and not found, is_return=is_return)
        if line is not None and not found and one["file"] == line[0]:
            one["line"] = line[1]
        if deep < deep_frames and one["file"] and not one["library"]:
            deep += 1
            _add_operands(frame, one)
        found.append(one)
        try:
            frame = frame.older()
        except gdb.error:
            break
    return found


def _read_frame(frame: Any, *, is_written: bool, is_return: bool) -> dict[str, Any]:
    pc = frame.pc()
    place = gdb.find_pc_line(pc - 1) if is_written else frame.find_sal()
    function = frame.function()
    file, line = source_of(place.symtab), place.line
    # Of an inlined function gdb gives the file and the line of its call.
    is_inlined = frame.type() == gdb.INLINE_FRAME
    if is_library(file) and not is_inlined and function is not None and function.symtab is not None:
        # Library code that the compiler has put into a function of the program.
        file, line = _own_line(function, pc - (is_written or is_return)) or (file, line)
    one: dict[str, Any] = {
        "function": frame.name() or "",
        "file": file,
        "line": line or None,
        "pc": pc,
        "cfa": _canonical_address(frame),
        "library": is_library(file) or _is_generated(function, file, line),
        "module": gdb.solib_name(pc) or "",
        "first_line": function.line if function is not None else 0,
        "entry": entry_of(frame),
        "args": [],
        "vars": {},
        "statement": "",
    }
    return one


def _is_generated(function: Any, file: str | None, line: int) -> bool:
    """Return whether a place is in a member of C++ that the compiler has written, as a copy's.

    Its line is that of the class, or of `= default`: what called it says more.
    """
    if function is None or file is None or line != function.line:
        return False
    owner, _, name = re.sub(r"<[^<>]*>|\(.*", "", function.name).rpartition("::")
    if name not in {owner.rpartition("::")[2], "operator="}:
        return False
    text = next(iter(statements.source_lines(file)[line - 1 : line]), "")
    is_head = re.search(r"\b(?:struct|class)\b", text) is not None
    return "= default" in text or (is_head and re.search(rf"{name}\s*\(", text) is None)


def _own_line(function: Any, pc: int) -> tuple[str, int] | None:
    """Return the last line of a function's own file before an address; None for a library's."""
    file = source_of(function.symtab)
    if file is None or is_library(file):
        return None
    block = _block_of(gdb.block_for_pc(pc), function)
    first = block.start if block is not None else pc
    table = function.symtab.linetable()
    lines = [(one.pc, one.line) for one in table if first <= one.pc <= pc and one.line]
    return (file, max(lines)[1]) if lines else None


def entry_of(frame: Any) -> int:
    """Return the address of the function's first instruction; 0 for an inlined function."""
    if frame.type() == gdb.INLINE_FRAME or frame.function() is None:
        return 0
    try:
        block = frame.block()
    except RuntimeError:
        return 0
    found = _block_of(block, frame.function())
    return int(found.start) if found is not None else 0


def function_block(address: int) -> Any:
    """Return the block of the function at an address; None without debug information.

    The code of inlined functions is that of the function that it lies in; a lambda's is not.
    """
    try:
        block = gdb.block_for_pc(address)
    except RuntimeError:
        return None
    found = None
    while block is not None and not block.is_static and not block.is_global:
        if not block.start <= address < block.end:
            break
        found = block if block.function is not None else found
        block = block.superblock
    return found


def _block_of(block: Any, function: Any) -> Any:
    """Return the block of a function that holds a block; None if none does."""
    # Two objects of one symbol are not equal.
    while block is not None and (block.function is None or block.function.name != function.name):
        block = block.superblock
    return block


def source_of(symtab: Any) -> str | None:
    """Return the path of a source.

    For a library's `cell.rs` that is not on this machine gdb takes a file of this name in the
    program's folder.
    """
    if symtab is None:
        return None
    recorded = str(symtab.filename)
    return recorded if recorded.startswith(_LIBRARIES) else str(symtab.fullname())


def is_library(file: str | None) -> bool:
    """Return whether a source file is none of the program's own."""
    return file is None or file.startswith((*_LIBRARIES, "./")) or "/.cargo/registry/" in file


def _canonical_address(frame: Any) -> int:
    """Return the stack pointer of the caller, which names the frame; 0 if unknown."""
    try:
        older = frame.older()
        return int(older.read_register("rsp")) if older is not None else 0
    except (gdb.error, ValueError):
        return 0


def _add_operands(frame: Any, one: dict[str, Any]) -> None:
    frame.select()
    text = statements.statement_at(one["file"], one["line"]) if one["line"] else ""
    one["statement"] = text
    names = _symbols_of(frame, one)
    for name in [*operands_of(text), *parts_of(text), *names]:
        if name not in one["vars"]:
            value = _read_ended(frame, name)
            if value is None and _is_visible(name):
                value = evaluate(name) or _describe_unreadable(name)
            if value is not None:
                one["vars"][name] = value


def _read_ended(frame: Any, name: str) -> dict[str, Any] | None:
    """Return the value of a local, or its field, whose block ends with the last instruction.

    Where a write was seen, the frame is behind it: the block of a loop may have ended there. None
    for what has not ended.
    """
    path = _ENDED_PATH.fullmatch(name)
    if path is None:
        return None
    try:
        inner, block = frame.block(), gdb.block_for_pc(frame.pc() - 1)
        while block is not None and block.function is None and block.start != inner.start:
            for symbol in block:
                if symbol.print_name == path["root"] and symbol.is_variable:
                    return describe_value(_step_into(symbol.value(frame), path["steps"]))
            block = block.superblock
    except (gdb.error, RuntimeError, ValueError, OverflowError):
        return None
    return None


def _step_into(value: Any, steps: str) -> Any:
    for sign, field in _ENDED_STEP.findall(steps):
        value = (value.dereference() if sign == "->" else value)[field]
    return value


def _is_visible(name: str) -> bool:
    """Return whether a name is none of a library's: a local that has ended leaves that to gdb."""
    if not name.isidentifier():
        return True
    try:
        symbol = gdb.lookup_symbol(name)[0]
        return symbol is None or symbol.symtab is None or not is_library(source_of(symbol.symtab))
    except (gdb.error, RuntimeError):
        return True


def _describe_unreadable(expression: str) -> dict[str, Any] | None:
    """Return the address of a field whose memory cannot be read; None for other expressions."""
    if not _FIELD.fullmatch(expression):
        return None
    try:
        value = gdb.parse_and_eval(expression)
        kind, address = value.type.strip_typedefs(), value.address
    except (gdb.error, RuntimeError, ValueError):
        return None
    if address is None:
        return None
    return {
        "text": "<not readable>",
        "type": str(value.type)[:_TEXT],
        "kind": _kind_of(kind),
        "address": int(address),
        "size": kind.sizeof,
        "bytes": "",
        "pointee": 0,
    }


def _symbols_of(frame: Any, one: dict[str, Any]) -> list[str]:
    found: list[str] = []
    try:
        block = frame.block()
    except RuntimeError:
        return found
    while block is not None and len(found) < _LOCALS:
        for symbol in block:
            if symbol.is_argument:
                one["args"].append(symbol.print_name)
            if (symbol.is_variable or symbol.is_argument) and symbol.print_name not in found:
                found.append(symbol.print_name)
        if block.function is not None:
            break
        block = block.superblock
    return found


def evaluate(expression: str) -> dict[str, Any] | None:
    """Return the value of an expression in the selected frame; None if it has none."""
    found = _evaluate(expression)
    if found is not None and not found["address"]:
        found["is_register"] = _is_variable(expression)
    if found is None and expression.isidentifier() and _is_variable(expression):
        return _describe_optimized_out(expression)
    return found


def _describe_optimized_out(name: str) -> dict[str, Any] | None:
    """Return what is known of a variable whose value optimised code does not keep."""
    try:
        value = gdb.parse_and_eval(name)
        kind = value.type.strip_typedefs()
        if not value.is_optimized_out:
            return None
    except (gdb.error, RuntimeError):
        return None
    return {
        "text": "<optimized out>",
        "type": str(value.type)[:_TEXT],
        "kind": _kind_of(kind),
        "address": 0,
        "size": kind.sizeof,
        "bytes": "",
        "pointee": 0,
        "is_register": True,
    }


def _is_variable(expression: str) -> bool:
    """Return whether an expression without memory begins with a variable, not with a constant."""
    root = re.match(r"[*&(]*([A-Za-z_]\w*)", expression)
    if root is None:
        return False
    try:
        symbol = gdb.lookup_symbol(root[1])[0]
    except (gdb.error, RuntimeError):
        return False
    is_named = symbol is not None and (symbol.is_variable or symbol.is_argument)
    return is_named and symbol.addr_class != gdb.SYMBOL_LOC_CONST


def _evaluate(expression: str) -> dict[str, Any] | None:
    try:
        return describe_expression(expression)
    except (gdb.error, RuntimeError, ValueError, OverflowError):
        pass
    try:
        # Rust's `a.b` of a reference, which gdb does not follow by itself.
        reference = re.sub(r"^(\w+)\.(?=\w)", r"(*\1).", expression)
        if reference != expression:
            return describe_value(gdb.parse_and_eval(reference))
    except (gdb.error, RuntimeError, ValueError, OverflowError):
        pass
    try:
        found = _read_through_iterator(expression)
        value = paths.read_path(expression) if found is None else None
        return describe_value(value) if value is not None else found
    except (gdb.error, RuntimeError, ValueError, OverflowError, LookupError, StopIteration):
        return None


# The field of libstdc++'s iterators with the node, and the size of what precedes the element there:
# _Rb_tree_node_base, _Hash_node_base and _List_node_base.
_ITERATORS = {"_M_node": 32, "_M_cur": 8, "_M_current": 0}


def _read_through_iterator(expression: str) -> dict[str, Any] | None:
    """Read `it->field.inner` or `*it` of a container's iterator without a call of its operator."""
    match = re.fullmatch(r"\*?(\w+)(?:->(\w+(?:\.\w+)*))?", expression)
    if match is None or expression.isidentifier():
        return None
    base = gdb.parse_and_eval(match[1])
    kind = base.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return None
    fields = {one.name for one in kind.fields()} | {
        inner.name for one in kind.fields() if one.is_base_class for inner in one.type.fields()
    }
    for name, before in _ITERATORS.items():
        if name in fields:
            is_list = name == "_M_node" and "_List" in str(kind)
            begin = int(base[name]) + (16 if is_list else before)
            element = kind.template_argument(0)
            element = element.target() if element.code == gdb.TYPE_CODE_PTR else element
            value = gdb.Value(begin).cast(element.pointer()).dereference()
            for field in match[2].split(".") if match[2] else ():
                value = value[field]
            return describe_value(value)
    return None


_MEMBER = re.compile(r"^(?P<base>.*[\w\])])\s*(?:\.|->)\s*(?P<field>\w+)$")


def describe_expression(expression: str) -> dict[str, Any] | None:
    """Return the value of an expression as `describe_value`: a bit-field with its bits.

    Raises:
        gdb.error: it has no value.
    """
    found = describe_value(gdb.parse_and_eval(expression))
    member = _MEMBER.match(expression)
    if member is None or found is None or found["kind"] not in {"int", "unsigned", "enum", "bool"}:
        return found
    base = gdb.parse_and_eval(member["base"])
    kind = base.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR or kind.code in _REFERENCES:
        base = base.referenced_value()
        kind = base.type.strip_typedefs()
    if kind.code not in {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION} or base.address is None:
        return found
    for one in kind.fields():
        if one.name == member["field"] and one.bitsize:
            first, shift = divmod(one.bitpos, 8)
            size = (shift + one.bitsize + 7) // 8
            number = int(gdb.parse_and_eval(expression)) % (1 << one.bitsize)
            found.update(
                address=int(base.address) + first,
                size=size,
                bytes=number.to_bytes(size, "little").hex(),
                bits=(shift, one.bitsize),
            )
    return found


def describe_value(value: Any) -> dict[str, Any] | None:
    """Return the text, address and first bytes of a value; None for a function or a type."""
    kind = value.type.strip_typedefs()
    if kind.code in {gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF}:
        value = value.referenced_value()
        kind = value.type.strip_typedefs()
    if kind.code in {gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD, gdb.TYPE_CODE_VOID}:
        return None
    if value.is_optimized_out:
        return None
    value.fetch_lazy()
    text, name = _format_value(value), str(value.type)[:_TEXT]
    part = _emptiness_of(value, kind)
    if part is not None:
        value, kind = part, part.type.strip_typedefs()
    address = value.address if not regions.is_computed(value, kind) else None
    size = kind.sizeof
    return {
        "text": text,
        "type": name,
        "kind": _kind_of(kind),
        "address": int(address) if address is not None else 0,
        "size": size,
        "bytes": _bytes_of(value, address, size),
        "pointee": kind.target().sizeof if kind.code == gdb.TYPE_CODE_PTR else 0,
        "fields": _fields_of(kind) if kind.code == gdb.TYPE_CODE_STRUCT else {},
        "characters": texts.characters_of(value, kind),
    }


def _emptiness_of(value: Any, kind: Any) -> Any:
    """Return the member that says of an object of C++ that it is empty; None of any other object.

    What emptied it, or never filled it, has written this member; its other bytes may be old ones.
    """
    name = str(kind.name or "")
    paths = next((one for begin, one in _EMPTINESS.items() if name.startswith(begin)), ())
    for path in paths:
        part = value
        try:
            for field in path.split("."):
                part = part[field]
            return part if not int(part) else None
        except (gdb.error, ValueError):
            continue
    return None


def _fields_of(kind: Any) -> dict[str, tuple[int, int, str]]:
    """Return the offset, the size and the kind of each field that lies at whole bytes."""
    found = {}
    for one in kind.fields()[:_FIELDS_MAX]:
        bits = getattr(one, "bitpos", None)
        if one.name and one.type is not None and bits is not None and not one.bitsize | bits % 8:
            inner = one.type.strip_typedefs()
            found[one.name] = bits // 8, inner.sizeof, _kind_of(inner)
    return found


def _format_value(value: Any) -> str:
    try:
        text = value.format_string(
            max_elements=24, max_depth=2, symbols=False, styling=False, address=True
        )
    except gdb.error as error:
        text = f"<{error}>"
    return str(text) if len(text) <= _TEXT else f"{text[:_TEXT]}…"


def _bytes_of(value: Any, address: Any, size: int) -> str:
    if address is not None:
        try:
            most = _STRUCT_BYTES if _kind_of(value.type.strip_typedefs()) == "struct" else _BYTES
            memory = gdb.selected_inferior().read_memory(int(address), min(size, most))
        except gdb.error:
            return ""
        return bytes(memory).hex()
    kind = value.type.strip_typedefs().code
    if kind in {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL}:
        number = int(value) & ((1 << (8 * size)) - 1)
        return number.to_bytes(size, "little").hex()
    return ""


def _kind_of(kind: Any) -> str:
    code = kind.code
    if code == gdb.TYPE_CODE_PTR:
        return "pointer"
    if code in {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR}:
        return "int" if kind.is_signed else "unsigned"
    names = {
        gdb.TYPE_CODE_FLT: "float",
        gdb.TYPE_CODE_ENUM: "enum",
        gdb.TYPE_CODE_BOOL: "bool",
        gdb.TYPE_CODE_ARRAY: "array",
    }
    return names.get(code, "struct")


# struct _IO_FILE of glibc on x86-64: _IO_read_ptr, _IO_read_end and _fileno.
_READ_POINTER, _READ_END, _FILE_NUMBER = 8, 16, 112


def read_stream(frame: dict[str, Any], address: int) -> dict[str, Any]:
    """Return the descriptor of the FILE that a statement reads, and what it has read ahead.

    `behind` is how far a byte at the address lies behind the descriptor's position; None if the
    stream's buffer has other bytes there.
    """
    text = frame["statement"]
    streams = [one for one in parts_of(text) if frame["vars"].get(one, {}).get("type") == "FILE *"]
    if not streams:
        return {}
    at = int.from_bytes(bytes.fromhex(frame["vars"][streams[0]]["bytes"]), "little")
    inferior = gdb.selected_inferior()

    def read_number(shift: int, size: int) -> int:
        return int.from_bytes(bytes(inferior.read_memory(at + shift, size)), "little")

    try:
        ahead = read_number(_READ_END, 8) - read_number(_READ_POINTER, 8)
        descriptor = read_number(_FILE_NUMBER, 4)
    except gdb.error:
        return {}
    begins = [
        one["address"] if one["kind"] == "array" else int(one["text"].split()[0], 16)
        for name, one in frame["vars"].items()
        if name in parts_of(text) and one["kind"] in {"array", "pointer"} and name not in streams
    ]
    offset = min((address - one for one in begins if 0 <= address - one < 1 << 20), default=0)
    pointer = read_number(_READ_POINTER, 8)
    # The first byte of a refilled buffer is taken before the others are copied.
    for taken in (0, 1):
        source = pointer + offset - taken
        try:
            now = bytes(inferior.read_memory(address, 4))
            if now == bytes(inferior.read_memory(source, 4)):
                return {
                    "descriptor": descriptor,
                    "inside": offset,
                    "behind": offset - taken - ahead,
                }
        except gdb.error:
            break
    return {"descriptor": descriptor, "inside": offset, "behind": None}
