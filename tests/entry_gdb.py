"""Stops a program in gdb at addresses, and reports each stop until it is answered."""

import json

import gdb

WORDS = (
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip",
)  # fmt: skip


def plain_value(value, depth=0):  # noqa: PLR0911 - one case for each kind of type
    kind = value.type.strip_typedefs()
    code = kind.code
    try:
        if value.is_optimized_out:
            return "gone"
        if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            return plain_value(value.referenced_value(), depth)
        if code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            if depth > 5:
                return "deep"
            fields = [one for one in kind.fields() if hasattr(one, "bitpos")]
            return {
                f"base {number}" if one.is_base_class else one.name or "": plain_value(
                    value[one], depth + 1
                )
                for number, one in enumerate(fields)
            }
        if code == gdb.TYPE_CODE_ARRAY:
            low, high = kind.range()
            return [
                plain_value(value[one], depth + 1) for one in range(low, min(high, low + 20) + 1)
            ]
        if code == gdb.TYPE_CODE_FLT:
            return float(value)
        if code in (
            gdb.TYPE_CODE_PTR,
            gdb.TYPE_CODE_INT,
            gdb.TYPE_CODE_BOOL,
            gdb.TYPE_CODE_CHAR,
            gdb.TYPE_CODE_ENUM,
        ):
            return int(value)
    except (gdb.error, gdb.MemoryError):
        return "unreadable"
    return "other"


def read_arguments(frame):
    found = {}
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    function = frame.function()
    block = frame.block() if function else None
    while block is not None and block.function is None:
        block = block.superblock
    for symbol in block or ():
        if symbol.is_argument:
            try:
                found[symbol.name] = plain_value(symbol.value(frame))
            except gdb.error:
                found[symbol.name] = "gone"
    return found


def read_registers(frame):
    found = {name: int(frame.read_register(name)) & (1 << 64) - 1 for name in WORDS}
    for number in range(16):
        parts = frame.read_register(f"xmm{number}")["v2_int64"]
        low, high = (int(parts[at]) & (1 << 64) - 1 for at in range(2))
        found[f"xmm{number}"] = high << 64 | low
    return found


def break_at_caller(frame, known):
    top = int(frame.read_register("rsp")) & (1 << 64) - 1
    caller = int.from_bytes(gdb.selected_inferior().read_memory(top, 8), "little")
    if caller not in known:
        known.add(caller)
        gdb.Breakpoint(f"*{caller:#x}", internal=True)


def is_alive():
    return gdb.selected_inferior().pid > 0


def main(addresses, entries, ready, questions, answers):
    for word in ("pagination off", "breakpoint always-inserted on", "print pretty off"):
        gdb.execute("set " + word)
    first = gdb.Breakpoint(ready)
    gdb.execute("run </dev/null >/dev/null 2>&1", to_string=True)
    first.delete()
    for address in addresses:
        gdb.Breakpoint(f"*{address:#x}")
    finishing, callers = None, set()
    with open(questions, "w") as out, open(answers) as back:

        def report(what):
            what["pid"] = gdb.selected_inferior().pid
            out.write(json.dumps(what) + "\n")
            out.flush()
            back.readline()

        report({"kind": "ready"})
        while is_alive():
            gdb.execute("continue", to_string=True)
            if not is_alive():
                break
            frame = gdb.newest_frame()
            what = {"kind": "stop", "registers": read_registers(frame), "arguments": {}}
            pc = frame.pc()
            if finishing is not None and finishing.return_value is not None:
                what["returned"] = plain_value(finishing.return_value)
            if pc in addresses:
                what["arguments"] = read_arguments(frame)
                what["name"] = frame.name()
            report(what)
            if pc in entries:
                break_at_caller(frame, callers)
                try:
                    finishing = gdb.FinishBreakpoint(frame, internal=True)
                except ValueError:
                    finishing = None
