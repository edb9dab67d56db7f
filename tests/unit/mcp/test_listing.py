"""A listing holds all that a model needs, in few tokens."""

from __future__ import annotations

import json

import jsonschema
import pytest

from debugger.errors import DebuggerError
from debugger.mcp import prompts
from debugger.mcp.mcp_server import list_tool
from debugger.mcp.tool_definition import McpTool, Toolset
from debugger.mcp.tools import CORE, TOOLSETS

CHARACTERS_A_TOKEN = 4
DESCRIPTION_MAX = 110
NAMES = [
    f"debug_{name}"
    for name in (
        *("launch", "attach", "session", "detach", "breakpoint", "logpoint", "trace", "continue"),
        *("stack", "variables", "evaluate", "command", "read", "write", "query"),
        *(
            "crash",
            "test",
            "probe",
            "path",
            "calls",
            "diff",
            "hang",
            "who_wrote",
            "holds",
            "why",
            "try",
            "evidence",
        ),
    )
]

every_tool = pytest.mark.parametrize(
    "tool",
    [
        pytest.param(one, id=f"{name}-{one.name}")
        for name, tools in TOOLSETS.items()
        for one in tools
    ],
)


def seen_by_model(tools: Toolset) -> str:
    """Return what clients pass on to the model: names, descriptions and arguments of the tools."""
    shown = [list_tool(one, brief=tools.brief) for one in tools.listed_tools()]
    listed = [
        {"name": one.name, "description": one.description, "inputSchema": one.input_schema}
        for one in shown
    ]
    return json.dumps({"tools": listed}, separators=(",", ":"), ensure_ascii=False)


def test_the_core_has_the_tools_of_the_contract() -> None:
    assert sorted(one.name for one in CORE) == sorted(NAMES)


def test_the_listing_of_the_core_has_at_most_1800_tokens() -> None:
    assert len(seen_by_model(CORE)) / CHARACTERS_A_TOKEN <= 1800


@every_tool
def test_a_tool_says_what_it_is_in_one_line(tool: McpTool) -> None:
    assert tool.title
    assert tool.description.endswith(".")
    assert "\n" not in tool.description
    assert len(tool.description) <= DESCRIPTION_MAX


@every_tool
def test_a_tool_has_schemas_that_are_schemas(tool: McpTool) -> None:
    for schema in (tool.input_schema, tool.output_schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


@every_tool
def test_what_only_looks_is_marked_so_and_nothing_is_both(tool: McpTool) -> None:
    annotations = list_tool(tool).annotations
    assert annotations is not None
    assert annotations.read_only_hint is tool.reads_only
    assert not (annotations.read_only_hint and annotations.destructive_hint)


def test_what_can_end_or_change_a_program_is_marked_destructive() -> None:
    marked = {one.name for one in CORE if one.destructive}
    assert marked == {
        "debug_launch",
        "debug_session",
        "debug_evaluate",
        "debug_write",
        "debug_command",
        "debug_crash",
        "debug_test",
        "debug_probe",
        "debug_path",
        "debug_calls",
        "debug_diff",
        "debug_hang",
        "debug_who_wrote",
        "debug_holds",
        "debug_why",
        "debug_try",
    }


def test_what_is_not_listed_in_the_core_is_taken_all_the_same() -> None:
    tool = CORE.get("debug_crash")
    assert tool is not None
    listed = list_tool(tool, brief=True).input_schema["properties"]
    assert "env" not in listed
    assert listed["command"] == {"type": "string"}
    _, words = tool.bind_arguments({"command": "prog 'a b' --to=c", "env": {"A": "1"}})
    assert words["command"] == ("prog", "a b", "--to=c")
    _, words = tool.bind_arguments({"command": ["prog", "a b"]})
    assert words["command"] == ("prog", "a b")
    with pytest.raises(DebuggerError, match="No closing quotation"):
        tool.bind_arguments({"command": "prog 'a"})


@pytest.mark.parametrize("name", TOOLSETS)
def test_the_instructions_teach_in_200_words_and_name_only_what_there_is(name: str) -> None:
    names = {one.name for one in TOOLSETS[name]}
    text = prompts.tool_instructions(names)
    assert len(text.split()) <= 200
    mentioned = {word.strip("`.,:;(){}\"'") for word in text.split()}
    found = {word for word in mentioned if word.startswith(("debug_", "session_"))}
    assert found
    assert found <= names
