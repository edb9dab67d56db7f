"""Runs inside gdb: steps through `work`, and tells which locals still have the stack's filling.

Its output is one line of JSON: the function's instructions, and for each step the address and the
names of the locals whose memory differs from the filling.
"""

import json

import gdb

FILLING = 0x5A
STEPS = 1500


def locals_of(frame):
    """Return the names and the memory of the locals in scope."""
    block = frame.block()
    while block is not None:
        for symbol in block:
            # A reference has its object's address, and an array of variable size none at first.
            is_fit = not symbol.type.dynamic and symbol.type.code != gdb.TYPE_CODE_REF
            if symbol.is_variable and not symbol.is_argument and is_fit:
                value = symbol.value(frame)
                if value.address is not None and value.type.sizeof:
                    start = int(value.address.cast(gdb.lookup_type("long")))
                    yield symbol.name, start, value.type.sizeof
        if block.function is not None:
            return
        block = block.superblock


def take_step(frame):
    """Return the address, and the locals that are written to."""
    memory = gdb.selected_inferior()
    written = []
    for name, start, size in locals_of(frame):
        data = bytes(memory.read_memory(start, size))
        if data != bytes([FILLING]) * size:
            written.append(name)
    return [frame.pc(), written]


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("break *work", to_string=True)
gdb.execute("run > /dev/null", to_string=True)
low = gdb.selected_frame().pc()
block = gdb.block_for_pc(low)
while block.function is None:
    block = block.superblock
code = gdb.selected_frame().architecture().disassemble(block.start, block.end - 1)
# Stepping over a call ends where the call does, which an exception may not: each instruction stops.
for one in code[1:]:
    gdb.execute(f"break *{one['addr']}", to_string=True)
steps = []
while len(steps) < STEPS and gdb.selected_inferior().threads():
    steps.append(take_step(gdb.selected_frame()))
    gdb.execute("continue", to_string=True)
found = {"low": low, "code": [[one["addr"], one["asm"]] for one in code], "steps": steps}
gdb.write("ORACLE " + json.dumps(found) + "\n")
