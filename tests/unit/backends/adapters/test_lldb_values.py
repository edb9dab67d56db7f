"""LLDB's values are completed, and its adapters' texts parsed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from debugger.backends.adapters.lldb import codelldb_adapter, lldb_dap_adapter
from debugger.backends.base import AttachTarget, LaunchTarget, OutputPrinted, ProcessStarted
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterSearch, StreamFiles
from debugger.backends.lldb import lldb_values
from debugger.model.events import OutputStream
from debugger.model.program import ExceptionDetails, StopReason, Variable

LLDB, CODELLDB = lldb_dap_adapter.LldbDapAdapter(), codelldb_adapter.CodeLldbAdapter()
FILES = StreamFiles("/s/in", "/s/out", "/s/err")


class OneValueConnection:
    """An adapter that knows the children of one value."""

    def __init__(self, *children: Variable) -> None:
        self.children = children
        self.asked = 0

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        del handle, start
        self.asked += 1
        return list(self.children[:count])


def completed(value: Variable, *children: Variable) -> tuple[str, int]:
    inside = OneValueConnection(*children)
    (shown,) = asyncio.run(lldb_values.complete_variables(inside, [value]))  # type: ignore[arg-type]
    return shown.value, inside.asked


NUMBER = Variable("number", "1", "int")
INNER = Variable("inner", "{a:2, b:3}", "Inner", handle=5)
NAME = Variable("name", '"a long enough name for this"', "std::string", handle=6)


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        ("{number:0, ...}", '{number:1, inner:{...}, name:"a long enough name for this", ...}'),
        (
            "0x7fff0010 {number:0, ...}",
            '0x7fff0010 {number:1, inner:{...}, name:"a long enough name for this", ...}',
        ),
        ("T @ 0x7fff0010", '{number:1, inner:{...}, name:"a long enough name for this", ...}'),
    ],
)
def test_a_struct_that_was_cut_by_time_is_written_from_its_members(value, whole):
    last = Variable("d", "3.5", "double")
    told = completed(Variable("n", value, "T", handle=4), NUMBER, INNER, NAME, last)
    assert told == (whole, 1)


def test_a_struct_that_was_cut_for_its_length_is_not_asked_again():
    long = '{number:1, inner:{...}, name:"a long enough name for this", ...}'
    assert completed(Variable("n", long, "T", handle=4), NUMBER) == (long, 0)
    assert completed(Variable("n", "{a:1, b:2}", "T", handle=4), NUMBER) == ("{a:1, b:2}", 0)


def test_a_null_pointer_has_no_fields():
    assert completed(Variable("next", "0x0000000000000000 {id:{...}}", "node *", handle=3)) == (
        "0x0",
        0,
    )


def test_the_value_in_memory_that_codelldb_adds_is_no_element():
    raw = Variable(lldb_values.RAW, "std::vector<int>", handle=9)
    told = completed(Variable("v", "size=1", "std::vector<int>", handle=4), NUMBER, raw)
    assert told == ("size=1 {1}", 1)


@pytest.mark.parametrize(
    "said",
    [
        "variable not available",
        "no location, value may have been optimized out",
        "could not evaluate DW_OP_entry_value: no parent function",
        "could not evaluate DW_OP_entry_value: no call site of f<a>::g<b, 0>(double)",
        "Could not evaluate DW_OP_implicit_pointer.",
    ],
)
def test_what_the_compiler_kept_nowhere_is_said_to_be_optimized_out(said):
    told = completed(Variable("n", f"<error: {said}>", "int"))
    assert told == ("<optimized out>", 0)


def read(kind: Any, **body: Any) -> Any:
    return msgspec.convert(body, kind)


def test_a_watchpoints_number_cannot_be_a_breakpoints():
    told = read(dap.StoppedBody, reason="breakpoint", description="watchpoint 3", threadId=1)
    stop = LLDB.parse_stopped(told)
    assert (stop.reason, stop.hits) == (StopReason.WATCHPOINT, (-3,))
    told = read(dap.StoppedBody, reason="data breakpoint", hitBreakpointIds=[1_000_003], threadId=1)
    stop = CODELLDB.parse_stopped(told)
    assert (stop.reason, stop.hits) == (StopReason.WATCHPOINT, (-3,))


@pytest.mark.parametrize(
    ("description", "reason", "signal"),
    [
        ("signal SIGSEGV: address not mapped (fault address=0x0)", StopReason.SIGNAL, "SIGSEGV"),
        ("SIGSEGV: address not mapped (fault address=0x0)", StopReason.SIGNAL, "SIGSEGV"),
        ("signal SIGSTOP", StopReason.PAUSE, "SIGSTOP"),
    ],
)
def test_a_signal_is_told_of_a_process_and_of_a_core_file(description, reason, signal):
    stop = CODELLDB.parse_stopped(
        read(dap.StoppedBody, reason="exception", description=description, threadId=1)
    )
    assert (stop.reason, stop.signal) == (reason, signal)
    if signal == "SIGSEGV":
        found = CODELLDB.adjust_exception(ExceptionDetails("Signal", description))
        assert found == ExceptionDetails("SIGSEGV", "address not mapped (fault address=0x0)")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            {"category": "console", "output": "Launched process 12 from '/a'\n"},
            ProcessStarted(12),
        ),
        ({"category": "stderr", "output": "Stop reason: signal SIGSEGV\n"}, None),
        (
            {"category": "stderr", "output": "Could not evaluate breakpoint condition:\nx\n"},
            None,
        ),
        (
            {"category": "stdout", "output": "a\r\nb\r\n"},
            OutputPrinted(OutputStream.STDOUT, "a\nb\n"),
        ),
        (
            {"category": "console", "output": "hello\n"},
            OutputPrinted(OutputStream.CONSOLE, "hello\n"),
        ),
    ],
)
def test_what_codelldb_prints_is_told_by_what_it_is(body, told):
    assert CODELLDB.parse_output(read(dap.OutputBody, **body)) == told


def test_of_codelldbs_traceback_the_error_is_told():
    said = (
        'Traceback (most recent call last):\n  File "x.py", line 1\n'
        "Exception: error: <user expression 3>:1:1: use of undeclared identifier 'x'\n    1 | x\n"
    )
    assert CODELLDB.shorten_error(said).startswith("use of undeclared identifier 'x'\n")
    assert (
        CODELLDB.shorten_error("Traceback (most recent call last):\nKeyError: 1\n") == "KeyError: 1"
    )
    assert CODELLDB.shorten_error("plain") == "plain"


def adapter_at(root: Path, version: str) -> Path:
    file = root / "adapter" / "codelldb"
    file.parent.mkdir(parents=True)
    file.write_text("")
    library = root / "lldb" / "lib" / "liblldb.so"
    library.parent.mkdir(parents=True)
    library.write_text("")
    (root / "package.json").write_text(json.dumps({"version": version}))
    return file


def test_codelldb_is_found_where_it_was_installed_or_in_the_newest_extension(tmp_path: Path):
    env = {"HOME": str(tmp_path), "PATH": ""}
    assert CODELLDB.find_installation(AdapterSearch(env)) is None
    extensions = tmp_path / ".vscode" / "extensions"
    adapter_at(extensions / "vadimcn.vscode-lldb-1.9.2", "1.9.2")
    newest = adapter_at(extensions / "vadimcn.vscode-lldb-1.11.4", "1.11.4")
    found = CODELLDB.find_installation(AdapterSearch(env, args=("-x",)))
    assert found is not None
    library = newest.parents[1] / "lldb" / "lib" / "liblldb.so"
    assert found.argv == (str(newest), "--liblldb", str(library), "-x")
    assert found.version == "1.11.4"
    own = adapter_at(tmp_path / ".local/share/debugger-cli/adapters/codelldb", "1.11.8")
    found = CODELLDB.find_installation(AdapterSearch(env))
    assert found is not None
    assert found.argv[0] == str(own)
    found = CODELLDB.find_installation(AdapterSearch(env, path=str(newest)))
    assert found is not None
    assert found.argv[0] == str(newest)


@pytest.mark.parametrize("adapter", [LLDB, CODELLDB], ids=lambda one: str(one.name))
def test_each_target_is_attached_to_in_its_own_way(adapter):
    process = adapter.attach_arguments(AttachTarget(7, cwd="/", env={}))
    assert process["pid"] == 7
    core = json.dumps(
        adapter.attach_arguments(AttachTarget(None, cwd="/", env={}, program="/p q", core="/c"))
    )
    assert "/c" in core
    assert "/p q" in core
    assert "pid" not in core
    server = adapter.attach_arguments(
        AttachTarget(None, cwd="/", env={}, connect=("10.0.0.1", 4321))
    )
    assert "10.0.0.1" in json.dumps(server)
    assert "4321" in json.dumps(server)


def test_codelldb_is_told_the_language_whose_formatters_are_needed(tmp_path: Path):
    program = tmp_path / "app"
    program.write_bytes(b"\x7fELF\x02\x01" + bytes(58) + b"rust_eh_personality")
    told = CODELLDB.launch_arguments(LaunchTarget(str(program), cwd="/", env={}), FILES)
    assert told["sourceLanguages"] == ["rust"]
    assert 'settings set target.input-path "/s/in"' in told["initCommands"]
