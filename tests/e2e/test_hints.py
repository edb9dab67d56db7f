"""The command of a hint is taken where the hint is given, with each adapter that gives it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import hint_situations as situations
from debuggees import build_debuggee, find_source
from hint_texts import asks_help, commands_in
from running_programs import run_program

ADAPTERS = ("lldb-dap", "gdb", "codelldb", "lldb-cli", "frida", "debugpy", "delve", "js-debug")
each = pytest.mark.parametrize(
    "adapter", [pytest.param(one, marks=pytest.mark.adapter(one)) for one in ADAPTERS]
)
OWN_RUNNING = situations.BY_ADAPTER_RUNNING
SUFFIXES = {"debugpy": ".py", "delve": ".go", "js-debug": ".js"}
# What a user puts in place of the words that a hint leaves open.
VALUES = {"EXPR": "1", "NAME": "i", "VALUE": "1", "ID": "1", "LINE": "7", "REF": "v1"}
VALUES |= {
    "FILE:LINE": f"{find_source('loop.c')}:7",
    "LOC": "calculate",
    "COMMAND": "help",
    "N": "1",
    "F": __file__,
}
# These are tried by the questions' own tests; here it is enough that they are understood.
OTHERS = ("who-wrote", "path", "crash", "hang", "probe", "start", "attach", "try", "--budget")
MOVES = ("pause", "restart", "continue", "until", "next", "step", "stop", "detach", "jump", "await")
MISSING = (2, 4)  # exit codes: not understood; wrong in this state


def begin(cli: Any, adapter: str, name: str, *words: str) -> None:
    suffix = SUFFIXES.get(adapter, ".c")
    file = f"{name}{suffix}"
    program = build_debuggee(file) if suffix in {".c", ".go"} else find_source(file)
    chosen = "--backend" if adapter in {"lldb-cli", "frida"} else "--adapter"
    cli("stop", "--all")
    told = cli("start", program, chosen, adapter, *words)
    assert told.exit in (0, 3), str(told)


def faults(cli: Any, table: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the hints of commands that fail, and what their commands answer."""
    tried: set[str] = set()
    moving: list[str] = []
    for words, expected in table.items():
        told = cli("--json", *shlex.split(words))
        hint = (told.data.get("error") or {}).get("hint")
        if hint is None or expected not in hint:
            yield f"{words}: {told.out}"
            continue
        for command in commands_in(hint):
            if command not in tried and not command.startswith(OTHERS):
                tried.add(command)
                if command.startswith(MOVES):
                    moving.append(command)
                else:
                    yield from fault(cli, words, command)
    for command in moving[:1]:
        yield from fault(cli, "all that", command)


def fault(cli: Any, words: str, command: str) -> Iterator[str]:
    given = [VALUES.get(word, word) for word in shlex.split(command)]
    if asks_help(given):
        return
    answered = cli(*given)
    if answered.exit in MISSING:
        yield f"{words}: its hint does not help: {answered}"


def report(found: Iterator[str]) -> None:
    wrong = "\n".join(found)
    if wrong:
        pytest.fail(wrong, pytrace=False)


@each
def test_hints_at_a_stop_help_there(cli, adapter):
    begin(cli, adapter, "loop", "--break", "calculate")
    # What no adapter answers for itself is the same with all of them, and asked of one.
    table = dict(situations.STOPPED if adapter == "debugpy" else {})
    table |= {} if adapter in SUFFIXES else situations.NATIVE
    table |= situations.BY_ADAPTER.get(adapter, {})
    report(faults(cli, table))


@pytest.mark.parametrize("adapter", [one for one in each.args[1] if one.values[0] in OWN_RUNNING])
def test_hints_while_the_program_runs_help_there(cli, adapter):
    begin(cli, adapter, "endless", "--no-wait")
    answered = situations.ANSWERED_RUNNING.get(adapter, set())
    table = situations.RUNNING | situations.BY_ADAPTER_RUNNING[adapter]
    report(faults(cli, {words: hint for words, hint in table.items() if words not in answered}))
    for words in answered:
        assert cli(*shlex.split(words), check=0).out


@pytest.mark.adapter("lldb-dap")
def test_hints_after_the_programs_end_and_without_a_session_help_there(cli):
    report(faults(cli, situations.NONE))
    begin(cli, "lldb-dap", "loop")
    report(faults(cli, situations.ENDED))


@pytest.mark.adapter("frida", "gdb")
def test_what_the_engine_cannot_enter_is_debugged_as_the_hint_says(cli, tmp_path):
    static = tmp_path / "static"
    subprocess.run(["gcc", "-g", "-static", "-o", static, find_source("endless.c")], check=True)
    refused = cli("start", static, "--backend", "frida", check=1)
    begin_as = f"debugger start {static} --adapter gdb"
    assert f"hint: {begin_as} stays outside of it" in refused.err
    assert cli(*begin_as.split()[1:], "--break", "count", check=0).out.startswith("stopped: ")
    cli("stop", check=0)
    with run_program(static, ready="counting") as process:
        refused = cli("attach", str(process.pid), "--backend", "frida", check=1)
        attach_as = f"debugger attach {process.pid} --adapter gdb"
        assert f"hint: {attach_as} stays outside of it" in refused.err
        assert cli(*attach_as.split()[1:], "--pause", check=0).out.startswith("stopped: ")
        cli("detach", check=0)
    with run_program(build_debuggee("endless.c"), ready="counting") as process:
        os.kill(process.pid, signal.SIGSTOP)
        refused = cli("attach", str(process.pid), "--backend", "frida")
        attach_as = f"debugger attach {process.pid} --adapter gdb"
        assert f"kill -CONT {process.pid} lets it run first; {attach_as} stays" in refused.err
        cli(*attach_as.split()[1:], check=0)
        cli("detach", check=0)
