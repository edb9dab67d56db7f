"""A tool takes its arguments, and refuses others by name."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from msgspec import Struct

from debugger.cli import commands
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import tool_definition
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import (
    MILLISECONDS,
    McpTool,
    ToolArgument,
    Toolset,
    camel_case,
)
from debugger.mcp.tools import inspection_tools, question_tools
from debugger.model.command_registry import COMMANDS

TOOLS = Toolset()


class Item(Struct, rename="camel"):
    """One of several."""

    hit_count: int = 0


@TOOLS.tool("debug_try", title="Try", result={"value": str})
async def debug_try(
    call: ToolCall,
    name: Annotated[str, "what it is called"],
    *,
    how: Literal["up", "down"] = "up",
    frame_index: int | None = None,
    items: tuple[Item, ...] = (),
) -> ToolAnswer:
    """Try it."""
    return ToolAnswer("")


def tool(name: str = "debug_try") -> McpTool:
    found = TOOLS.get(name)
    assert found is not None
    return found


def test_names_are_in_the_case_of_the_protocol() -> None:
    assert [camel_case(name) for name in ("command", "frame_index", "stop_on_entry")] == [
        "command",
        "frameIndex",
        "stopOnEntry",
    ]


def test_a_schema_holds_what_a_model_needs_and_no_more() -> None:
    assert tool().input_schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "what it is called"},
            "how": {"enum": ["down", "up"], "default": "up"},
            "frameIndex": {"type": "integer"},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"hitCount": {"type": "integer"}},
                },
            },
            "sessionId": {"type": "string"},
        },
        "required": ["name"],
    }


def test_arguments_are_checked_and_defaults_filled_in() -> None:
    session, arguments = tool().bind_arguments({"name": "x", "items": [{"hitCount": 3}]})
    assert session is None
    assert arguments == {
        "name": "x",
        "how": "up",
        "frame_index": None,
        "items": (Item(hit_count=3),),
    }


@pytest.mark.parametrize("key", ["sessionId", "debugSessionId"])
def test_both_names_of_a_session_are_taken(key: str) -> None:
    assert tool().bind_arguments({"name": "x", key: "app"})[0] == "app"


def test_both_names_at_once_may_name_one_session() -> None:
    given = {"name": "x", "sessionId": "app", "debugSessionId": "app"}
    assert tool().bind_arguments(given)[0] == "app"


def test_an_empty_session_is_none() -> None:
    assert tool().bind_arguments({"name": "x", "sessionId": ""})[0] is None


@pytest.mark.parametrize(
    ("given", "says", "hint"),
    [
        ({}, "name", "it takes name, how"),
        ({"name": 3}, "Expected `str`, got `int` - at `$.name`", "it takes"),
        ({"name": "x", "how": "left"}, "$.how", "it takes"),
        ({"name": "x", "nmae": 1}, "no 'nmae'", "did you mean name?"),
        ({"name": "x", "frameIndex": 1, "frame_index": 2}, "no 'frame_index'", "it takes"),
        ({"name": "x", "frameIndex": "one"}, "$.frameIndex", "it takes"),
        ({"name": "x", "frameIndex": True}, "$.frameIndex", "it takes"),
        ({"name": "x", "sessionId": 5}, "a session's id is a string", "debug_session"),
        ({"name": "x", "sessionId": "a", "debugSessionId": "b"}, "name two sessions", "one"),
        ({"name": "x", "y" * 10_000: 1}, "no 'yyy", "it takes"),
    ],
)
def test_bad_arguments_are_refused_by_name(given: dict[str, Any], says: str, hint: str) -> None:
    with pytest.raises(DebuggerError) as told:
        tool().bind_arguments(given)
    assert told.value.code is ErrorCode.USAGE
    assert says in told.value.message
    assert hint in (told.value.hint or "")
    assert len(told.value.message) < 300


def test_of_two_toolsets_the_first_gives_the_tools_that_both_have() -> None:
    other = Toolset()

    @other.tool("debug_try", title="Other", result={})
    @other.tool("debug_more", title="More", result={})
    async def more(call: ToolCall) -> ToolAnswer:
        """Do more."""
        return ToolAnswer("")

    joined = TOOLS | other
    assert {one.name: one.title for one in joined} == {"debug_try": "Try", "debug_more": "More"}


TOOL_MODULES = sorted((Path(tool_definition.__file__).parent / "tools").glob("*.py"))


@pytest.mark.parametrize("module", TOOL_MODULES, ids=lambda path: path.stem)
def test_a_tool_passes_on_what_its_command_takes(module: Path) -> None:
    """The calls of commands in functions; derived tools are checked when they are made."""
    commands.register_all()
    unknown = []
    for node in ast.walk(ast.parse(module.read_text())):
        is_call = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("run_command")
        if not is_call or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        known = {one.name for one in COMMANDS.get(node.args[0].value).parameters}
        given = {one.arg for one in node.keywords if one.arg is not None} - {"waits"}
        unknown += [f"line {node.lineno}: {name}" for name in given - known]
    assert unknown == []


def test_a_tool_of_a_parameter_that_its_command_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="crash has no parameter nonsense"):
        derive_from_crash(ToolArgument("nonsense"))


def test_a_tool_whose_argument_has_another_type_than_the_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="pid: the command takes"):
        derive_from_crash(ToolArgument("pid", form=MILLISECONDS))


def derive_from_crash(argument: ToolArgument) -> None:
    Toolset().derive_tool(
        "debug_crash",
        "crash",
        [argument],
        title="",
        description="",
        result={},
        answer=lambda _call, reply: ToolAnswer(reply.text),
    )


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("debug_crash", {"cmd": "./a 1"}, {"command": "./a 1"}),
        ("debug_crash", {"program": "./a", "args": ["1"]}, {"command": ["./a", "1"]}),
        ("debug_why", {"expr": "x", "at": "crash", "command": "./a"},
         {"expression": "x", "at": "crash", "command": "./a"}),
        ("debug_why", {"expression": "x", "file": "a.c", "line": 5, "command": "./a"},
         {"expression": "x", "at": "a.c:5", "command": "./a"}),
        ("debug_probe", {"at": "a.c:5", "expressions": ["i", "n"], "command": "./a"},
         {"at": {"a.c:5": "i, n"}, "command": "./a"}),
        ("debug_probe", {"location": "a.c:5", "expr": "i", "condition": "i > 3", "cmd": "./a"},
         {"at": {"a.c:5": "i"}, "when": "i > 3", "command": "./a"}),
        ("debug_probe", {"at": "a.c:5 if i > 3", "vars": "i", "command": "./a"},
         {"at": {"a.c:5": "i"}, "when": "i > 3", "command": "./a"}),
        ("debug_calls", {"func": "f", "command": "./a", "nth": 2},
         {"function": "f", "command": "./a", "nth": 2}),
        ("debug_diff", {"command": "./a 1", "vs": "./a 2"},
         {"command": "./a 1", "versus": "./a 2"}),
        ("debug_variables", {"frame_id": 1}, {"frameIndex": 1}),
        ("debug_evaluate", {"expresion": "x"}, {"expression": "x"}),
    ],
)  # fmt: skip
def test_an_argument_of_another_name_is_taken_where_it_is_clear(
    name: str, given: dict[str, Any], meant: dict[str, Any]
) -> None:
    found = (question_tools.TOOLS | inspection_tools.TOOLS).get(name)
    assert found is not None
    assert found.bind_arguments(given) == found.bind_arguments(meant)


def test_a_time_of_unclear_unit_is_refused_with_the_right_call() -> None:
    found = question_tools.TOOLS.get("debug_crash")
    assert found is not None
    with pytest.raises(DebuggerError) as refused:
        found.bind_arguments({"command": "./a", "timeout": 30})
    assert 'debug_crash {"command": "./a", "timeoutMs": 30000}' in (refused.value.hint or "")
