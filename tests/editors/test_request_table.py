"""The table of requests in docs/editors.md: what each debugger can do, and each request by it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import SPECS, spec_parameter
from adapter_specs.adapter_spec import AdapterSpec
from debugger.editors import capabilities, editor_door
from editor_client import EditorClient, open_editor

DOCUMENT = Path(__file__).parents[2] / "docs" / "editors.md"
REAL = [one for one in SPECS if one.is_real]
# The rows that depend on the debugger: the requests, and the capability that tells.
ROWS: Mapping[str, str] = {
    "setExceptionBreakpoints": "",
    "setDataBreakpoints": "supportsDataBreakpoints",
    "setInstructionBreakpoints": "supportsInstructionBreakpoints",
    "stepInTargets": "supportsStepInTargetsRequest",
    "gotoTargets, goto": "supportsGotoTargetsRequest",
    "next, stepIn by instruction": "supportsSteppingGranularity",
    "continue, next of one thread": "supportsSingleThreadExecutionRequests",
    "readMemory, writeMemory": "supportsReadMemoryRequest",
    "disassemble": "supportsDisassembleRequest",
    "modules": "supportsModulesRequest",
}
# What is asked of all debuggers in the same words.
FOR_ALL = (
    *("setBreakpoints", "setFunctionBreakpoints", "stackTrace", "scopes", "variables", "evaluate"),
    *("setVariable", "setExpression", "completions", "loadedSources", "source", "threads"),
    *("continue", "next", "stepIn", "stepOut", "pause", "restart", "terminate", "exceptionInfo"),
)

Cli = Callable[..., Any]


def can(spec: AdapterSpec, row: str) -> bool:
    """Return whether a debugger can do what a row says, by its specification."""
    needed = capabilities.ABILITIES[ROWS[row] or "supportsExceptionFilterOptions"]
    return needed in spec.abilities


def table_lines() -> list[str]:
    """Return the table as it should stand in the document."""
    head = ["request", *(one.name for one in REAL)]
    lines = [head, ["---"] * len(head)]
    lines += [[row, *("yes" if can(one, row) else "–" for one in REAL)] for row in ROWS]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def test_the_table_of_the_document_is_what_the_debuggers_can_do():
    expected = "\n".join(table_lines())
    assert expected in DOCUMENT.read_text(encoding="utf-8"), f"\n{expected}\n"


def test_each_row_names_requests_that_there_are():
    known = set(editor_door.HANDLERS) | set(editor_door.URGENT)
    named = {
        word for row in ROWS for word in re.findall(r"[a-zA-Z]+", re.sub(r" (by|of) .*", "", row))
    }
    assert named | set(FOR_ALL) <= known


def start_words(spec: AdapterSpec) -> list[str]:
    chosen = ["--backend", spec.backend] if spec.backend != "dap" else ["--adapter", spec.name]
    program = spec.loop().program
    return ["start", str(program), *chosen, "--break", f"{spec.file}:{spec.stop_line}"]


@pytest.mark.parametrize("spec", [spec_parameter(one) for one in REAL])
def test_each_request_is_answered_or_refused_as_the_table_says(
    shared_cli: Cli, shared_runtime_dir: Path, spec: AdapterSpec
):
    shared_cli(*start_words(spec), check=0)
    try:
        with open_editor(shared_runtime_dir) as editor:
            editor.ask("attach")
            editor.event("initialized")
            editor.ask("configurationDone")
            told = editor.event("capabilities")["capabilities"]
            assert {row: told[name] for row, name in ROWS.items() if name} == {
                row: can(spec, row) for row, name in ROWS.items() if name
            }
            thread = editor.event("stopped")["threadId"]
            frame = editor.top_frame(thread)
            ask_for_values(editor, spec, thread, frame["id"])
            ask_for_breakpoints(editor, spec, frame)
            ask_for_machine(editor, spec, frame)
            ask_for_steps(editor, spec, thread, frame)
            editor.ask("restart")
            editor.event("stopped", reason="breakpoint")
            editor.ask("terminate")
            editor.event("terminated")
    finally:
        shared_cli("stop", "--all")


def refused_where_not(
    editor: EditorClient, spec: AdapterSpec, row: str, command: str, **arguments: Any
) -> dict[str, Any] | None:
    """Send a request; return its answer, or None where the table says that it is refused."""
    if can(spec, row):
        return editor.ask(command, **arguments)
    assert re.search(r"cannot|not supported|no debugger", editor.refused(command, **arguments))
    return None


def ask_for_values(editor: EditorClient, spec: AdapterSpec, thread: int, frame: int) -> None:
    name, first = spec.variable, str(spec.first)
    for context in ("hover", "watch", "repl"):
        found = editor.ask("evaluate", expression=name, frameId=frame, context=context)
        assert found["result"] == first
    scopes = editor.ask("scopes", frameId=frame)["scopes"]
    for one in scopes:
        reference = one["variablesReference"]
        listed = editor.ask("variables", variablesReference=reference)["variables"]
        if name in [each["name"] for each in listed]:
            break
    else:
        raise AssertionError(f"no {name} in {scopes}")
    changed = editor.ask("setVariable", variablesReference=reference, name=name, value="7")
    assert changed["value"] == "7"
    changed = editor.ask("setExpression", expression=name, value=first, frameId=frame)
    assert changed["value"] == first
    targets = editor.ask("completions", text=name[:1], column=2, frameId=frame)["targets"]
    assert name in [one["label"] for one in targets]
    assert editor.ask("loadedSources")["sources"]
    assert "no exception" in editor.refused("exceptionInfo", threadId=thread)


def ask_for_breakpoints(editor: EditorClient, spec: AdapterSpec, frame: dict[str, Any]) -> None:
    some = (
        {"line": spec.stop_line, "condition": f"{spec.variable} == 2"},
        {"line": spec.call_line, "hitCondition": "3"},
        {"line": spec.call_line + 1, "logMessage": f"{spec.variable} is {{{spec.variable}}}"},
    )
    made = editor.ask("setBreakpoints", source={"path": spec.file}, breakpoints=list(some))
    assert all(one["id"] for one in made["breakpoints"])
    editor.set_lines(spec.file)
    named = [{"name": spec.inner}]
    (made_there,) = editor.ask("setFunctionBreakpoints", breakpoints=named)["breakpoints"]
    assert made_there["verified"], made_there
    editor.ask("setFunctionBreakpoints", breakpoints=[])
    if can(spec, "setExceptionBreakpoints"):
        filters = ["raised"]
        assert editor.ask("setExceptionBreakpoints", filters=filters)["breakpoints"]
        editor.ask("setExceptionBreakpoints", filters=[])
    if can(spec, "setDataBreakpoints"):
        info = editor.ask("dataBreakpointInfo", name=spec.variable, frameId=frame["id"])
        watched = [{"dataId": info["dataId"], "accessType": "write"}]
        (made_there,) = editor.ask("setDataBreakpoints", breakpoints=watched)["breakpoints"]
        assert made_there["verified"] == spec.watches_locals, made_there
        assert spec.watches_locals or "watches fields only" in made_there["message"]
        editor.ask("setDataBreakpoints", breakpoints=[])
    else:
        info = editor.ask("dataBreakpointInfo", name=spec.variable, frameId=frame["id"])
        assert info["dataId"] is None
        assert "cannot" in info["description"]
    pointer = frame.get("instructionPointerReference") or "0x1000"
    if can(spec, "disassemble"):  # where no breakpoint is yet
        code = editor.ask("disassemble", memoryReference=pointer, instructionCount=2)
        pointer = code["instructions"][1]["address"]
    at = [{"instructionReference": pointer}]
    (made_there,) = editor.ask("setInstructionBreakpoints", breakpoints=at)["breakpoints"]
    # One that cannot be set says so in the answer, as the protocol has it.
    assert made_there["verified"] == can(spec, "setInstructionBreakpoints"), made_there
    assert made_there["verified"] or "cannot" in made_there["message"]
    editor.ask("setInstructionBreakpoints", breakpoints=[])


def ask_for_machine(editor: EditorClient, spec: AdapterSpec, frame: dict[str, Any]) -> None:
    row = "readMemory, writeMemory"
    pointer = frame.get("instructionPointerReference") or "0x1000"
    address = pointer
    if can(spec, row):
        expression = f"&{spec.variable}"
        value = editor.ask("evaluate", expression=expression, frameId=frame["id"], context="watch")
        address = value["memoryReference"]
    read = refused_where_not(editor, spec, row, "readMemory", memoryReference=address, count=4)
    data = read["data"] if read else base64.b64encode(b"\x01").decode()
    wrote = refused_where_not(editor, spec, row, "writeMemory", memoryReference=address, data=data)
    assert wrote is None or wrote["bytesWritten"] == 4
    code = refused_where_not(
        editor, spec, "disassemble", "disassemble", memoryReference=pointer, instructionCount=3
    )
    assert code is None or len(code["instructions"]) == 3
    modules = refused_where_not(editor, spec, "modules", "modules")
    assert modules is None or modules["modules"]


def ask_for_steps(
    editor: EditorClient, spec: AdapterSpec, thread: int, frame: dict[str, Any]
) -> None:
    refused_where_not(editor, spec, "stepInTargets", "stepInTargets", frameId=frame["id"])
    row = "gotoTargets, goto"
    place = {"source": {"path": spec.file}, "line": spec.stop_line}
    targets = refused_where_not(editor, spec, row, "gotoTargets", **place)
    if targets is not None:
        editor.ask("goto", threadId=thread, targetId=targets["targets"][0]["id"])
        thread = editor.event("stopped")["threadId"]
    row = "next, stepIn by instruction"
    if (
        refused_where_not(editor, spec, row, "next", threadId=thread, granularity="instruction")
        is not None
    ):
        thread = editor.event("stopped")["threadId"]
    row = "continue, next of one thread"
    if refused_where_not(editor, spec, row, "next", threadId=thread, singleThread=True) is not None:
        thread = editor.event("stopped")["threadId"]
    for command in ("next", "stepIn", "stepOut"):
        editor.ask(command, threadId=thread)
        thread = editor.event("stopped")["threadId"]
    editor.refused("stepBack", threadId=thread)
    editor.refused("restartFrame", frameId=frame["id"])
    editor.refused("terminateThreads", threadIds=[thread])
    editor.set_lines(spec.file, spec.stop_line)
