"""Hints name tools of the client's toolset, whatever command of a shell they are made of."""

from __future__ import annotations

import json
import re

import pytest

from debugger.mcp.tool_call import name_tools
from debugger.mcp.tools import TOOLSETS
from debugger.mcp.tools.inspection_tools import _HERE
from hint_texts import collect_hints

NAMES = {kind: {one.name for one in tools} for kind, tools in TOOLSETS.items()}


@pytest.mark.parametrize(
    ("hint", "core", "xcode"),
    [
        (
            "debugger pause stops it; debugger await waits",
            "debug_command `pause` stops it; debug_command `await` waits",
            'debug_session {"action": "pause"} stops it; debug_session {"action": "wait"} waits',
        ),
        ("debugger locals lists what is here", "debug_command `locals` lists what is here", None),
        ("debugger watch list; debugger watch remove ID frees one", None, None),
        (
            "debugger break main.c:42",
            "debug_command `break main.c:42`",
            'debug_breakpoint_add {"file": "main.c", "line": 42}',
        ),
        (
            "debugger raw help lists the commands",
            "debug_command `raw help` lists the commands",
            'debug_lldb_command {"command": "help"} lists the commands',
        ),
        (
            "debugger print '*NAME' reads through a reference",
            "debug_command `print '*NAME'` reads through a reference",
            'debug_lldb_command {"command": "expression *NAME"} reads through a reference',
        ),
        (
            "debugger attach --name server",
            "debug_command `attach --name server`",
            'debug_attach {"name": "server"}',
        ),
        (
            "debugger stop --kill ends program and session",
            "debug_command `stop --kill` ends program and session",
            'debug_session {"action": "kill"} ends program and session',
        ),
        (
            "debugger use loop-2: it still runs",
            "debug_command `use loop-2`: it still runs",
            'debug_session {"action": "use", "sessionId": "loop-2"}: it still runs',
        ),
        (
            "debugger start PROGRAM begins one",
            "debug_command `start PROGRAM` begins one",
            "debug_attach begins one",
        ),
        ("debugger config shows the file", None, "in a shell, debugger config shows the file"),
        (
            "debugger restart runs it again; debugger output shows what it printed",
            None,
            'debug_session {"action": "restart"} runs it again',
        ),
        ("give --x", "give --x", "give --x"),
        ("--members main,1-4", 'members: "main,1-4"', None),
        ("--group ranks", 'group: "ranks"', None),
        (
            "debugger --session ranks.1 COMMAND, or debugger use ranks.1",
            "debug_command `--session ranks.1 COMMAND`, or debug_command `use ranks.1`",
            None,
        ),
        (
            "debugger crash --group -- mpirun -n 4 ./program",
            "debug_command `crash --group -- mpirun -n 4 ./program`",
            None,
        ),
        (
            "debugger probe --at x.py:7 EXPR -- job.py a (says how near it came)",
            "debug_command `probe --at x.py:7 EXPR -- job.py a` (says how near it came)",
            None,
        ),
        (
            "debugger why 'a.b' --at crash -- ./program",
            "debug_command `why 'a.b' --at crash -- ./program`",
            None,
        ),
        (
            "debugger calls parse -- go test ./PACKAGE",
            "debug_command `calls parse -- go test ./PACKAGE`",
            None,
        ),
        (
            "debugger stop ends it; debugger crash -- ./program",
            "debug_command `stop` ends it; debug_command `crash -- ./program`",
            None,
        ),
        ("debugger crash -- CMD says where", "debug_command `crash -- CMD` says where", None),
    ],
)
def test_a_hint_names_tools_that_are_there(hint, core, xcode):
    if core is not None:
        assert name_tools(hint, NAMES["core"]) == core
    if xcode is not None:
        assert name_tools(hint, NAMES["xcodebuildmcp"]) == xcode


def test_a_clause_without_a_tool_is_left_out():
    hint = "debugger crash -- CMD; debugger detach ends the session"
    assert name_tools(hint, NAMES["xcodebuildmcp"]) == "debug_detach ends the session"
    assert name_tools("debugger daemon logs", NAMES["xcodebuildmcp"]) is None
    assert name_tools("debugger daemon logs", NAMES["core"]) == "in a shell, debugger daemon logs"
    assert name_tools("debugger watch list; --adapter gdb does", NAMES["xcodebuildmcp"]) is None
    stepping = "debugger step --into NAME; debugger args"
    assert name_tools(stepping, NAMES["xcodebuildmcp"]) == "debug_variables"


def test_every_call_that_a_hint_names_has_arguments_that_its_tool_takes():
    tools = {one.name: one for one in TOOLSETS["xcodebuildmcp"]}
    calls = {
        call
        for _, _, text in collect_hints()
        for call in re.findall(
            r"\b(debug_\w+) (\{.*?\})", name_tools(text, NAMES["xcodebuildmcp"]) or ""
        )
    }
    assert len(calls) > 20
    for name, arguments in calls:
        tools[name].bind_arguments(json.loads(arguments))


def test_no_command_that_a_hint_names_is_refused_by_the_tool_for_commands():
    for _, _, text in collect_hints():
        for command in re.findall(
            r"debug_command `([\w-]+)", name_tools(text, NAMES["core"]) or ""
        ):
            assert command not in _HERE, text


def test_no_hint_of_the_source_names_a_command_or_a_missing_tool():
    wrong = []
    for path, line, text in collect_hints():
        for kind in ("core", "xcodebuildmcp"):
            fitted = name_tools(text, NAMES[kind]) or ""
            bad = re.findall(r"(?<!shell, )\bdebugger (?!behind|itself)[\w-]+", fitted)
            tools = set(re.findall(r"\bdebug_\w+", fitted)) - NAMES[kind]
            if kind == "xcodebuildmcp" or path.split("/")[0] in {"session", "core"}:
                wrong += [f"{path}:{line}: {fitted}"] if bad or tools else []
    assert wrong == []
