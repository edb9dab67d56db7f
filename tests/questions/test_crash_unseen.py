"""`crash` reports what a debugger's own stops leave out: lost tracing, workers, a full heap."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[1] / "programs" / "crashes.py"


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("mutual", ("called by main crashes.py:52: first(0)", "locals: depth=")),
        ("quit", ("crash: BdbQuit, in quits crashes.py:2", "locals: value=3")),
        ("task", ("survived: division by zero (ZeroDivisionError), in divide crashes.py:28",)),
        (
            "pool",
            ("caused by: in a worker: ZeroDivisionError: division by zero, in score crashes.py:",),
        ),
    ],
)
def test_what_ends_a_python_program_is_never_called_no_crash(
    cli: Callable[..., Any], what: str, says: tuple[str, ...]
) -> None:
    answer = cli("crash", "--", sys.executable, PROGRAM, what, check=0, cwd=PROGRAM.parent)
    for one in says:
        assert one in answer.out, answer.out
    assert "no crash" not in answer.out
    assert "pydevd" not in answer.out


@pytest.mark.adapter("js-debug")
def test_a_full_heap_of_v8_is_placed(cli: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "grows.js"
    script.write_text("const kept = [];\nfor (let i = 0; ; i++) kept.push({ i, text: 'x' + i });\n")
    answer = cli("crash", "--", "node", "--max-old-space-size=30", script, check=0)
    assert answer.out.startswith("crash: out of memory: JavaScript heap out of memory, in ")
    assert "grows.js:2" in answer.out


@pytest.mark.adapter("js-debug")
def test_an_error_in_a_long_line_is_a_crash_though_nodes_report_is_cut(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "bundle.js"
    padding = "".join(f"function f{number}(a){{return a+{number}}};" for number in range(9000))
    script.write_text(f"{padding}function price(i){{return i.price.amount}};price({{}});\n")
    answer = cli("crash", "--", "node", script, check=0)
    assert answer.out.startswith("crash: "), answer.out[:400]
    assert "in price bundle.js:1" in answer.out
    handled = tmp_path / "handled.js"
    handled.write_text("try { null.x } catch (error) { process.exit(1) }\n")
    assert "no crash seen: exited with status 1" in cli("crash", "--", "node", handled).out


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param("gdb", marks=pytest.mark.adapter("gdb")),
        pytest.param("lldb-dap", marks=pytest.mark.adapter("lldb-dap")),
    ],
)
def test_a_signal_that_was_sent_has_no_address(
    cli: Callable[..., Any], compiled: Callable[..., Path], adapter: str
) -> None:
    program = compiled("#include <signal.h>\nint main(void) { return raise(SIGSEGV); }\n")
    answer = cli("crash", "--json", "--adapter", adapter, "--", program, check=0).data["data"]
    assert (answer["address"], answer["address_kind"]) == (None, "sent")
    assert answer["cause"].startswith("SIGSEGV, sent by a process, perhaps by the program itself")


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param("gdb", marks=pytest.mark.adapter("gdb")),
        pytest.param("lldb-dap", marks=pytest.mark.adapter("lldb-dap")),
    ],
)
def test_a_fault_that_pythons_handler_sends_again_is_told_where_it_was(
    cli: Callable[..., Any], tmp_path: Path, adapter: str
) -> None:
    script = tmp_path / "peeks.py"
    script.write_text("import ctypes\ndef peek():\n    ctypes.string_at(16, 4)\npeek()\n")
    python = Path(sys.executable).resolve()
    answer = cli("crash", "--adapter", adapter, "--", python, script, check=0).out
    assert answer.startswith("crash: null pointer, at 0x10, in "), answer
    assert "< peek peeks.py:3 < <module> peeks.py:4" in answer
