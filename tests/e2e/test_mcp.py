"""A whole session with the core tools, over the SDK's own client."""

from __future__ import annotations

import re
from typing import Any

import jsonschema

from debuggees import build_debuggee, find_marker, find_source
from mcp_client import McpConnection, ToolAnswer, connect_stdio

LOOP = str(find_source("loop.py"))


def marked_location(name: str, label: str) -> str:
    return f"{find_source(name)}:{find_marker(name, label)}"


async def launched(agent: McpConnection, name: str, *labels: str, **more: Any) -> ToolAnswer:
    program = str(find_source(name) if name.endswith(".py") else build_debuggee(name))
    return await agent.call(
        "debug_launch",
        command=program,
        breakpoints=[marked_location(name, one) for one in labels],
        **more,
    )


async def test_one_call_starts_a_program_and_tells_the_whole_stop(cli) -> None:
    async with connect_stdio() as agent:
        told = await launched(agent, "loop.py", "step")
        assert told.data["status"] == "paused"
        assert told.data["breakpointId"] == "1"
        assert told.data["file"] == LOOP
        assert told.data["line"] == find_marker("loop.py", "step")
        assert told.data["stop"]["reason"] == "breakpoint"
        assert told.text.startswith("stopped: breakpoint 1, ")
        # The same words as the command line's.
        assert (await agent.call("debug_command", command="context")).text == cli("context").out


async def test_every_result_is_as_its_tool_says(cli) -> None:
    async with connect_stdio() as agent:
        schemas = {one.name: one.output_schema for one in await agent.list_tools()}
        calls: list[tuple[str, dict[str, Any]]] = [
            (
                "debug_launch",
                {"command": LOOP, "breakpoints": [marked_location("loop.py", "step")]},
            ),
            ("debug_stack", {}),
            ("debug_stack", {"allThreads": True}),
            ("debug_variables", {}),
            ("debug_evaluate", {"expression": "1 + 1"}),
            ("debug_read", {"targets": [{"variable": "1 + 1"}]}),
            ("debug_breakpoint", {}),
            ("debug_breakpoint", {"add": [{"function": "main"}]}),
            ("debug_continue", {"action": "step-over"}),
            ("debug_query", {"eventType": ["stop"]}),
            ("debug_command", {"command": "threads"}),
            ("debug_session", {"action": "list"}),
            ("debug_session", {"action": "status"}),
            ("debug_session", {"action": "stop"}),
        ]
        for name, arguments in calls:
            told = await agent.call(name, **arguments)
            jsonschema.validate(told.data, schemas[name])
            assert told.text


async def test_each_action_of_continue_does_what_it_says(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.c", "add")
        told = await agent.call("debug_continue", action="step-into")
        assert told.data["function"] == "calculate"
        told = await agent.call("debug_continue", action="step-over")
        assert (told.data["function"], told.data["line"]) == (
            "calculate",
            find_marker("loop.c", "return"),
        )
        told = await agent.call("debug_continue", action="step-out")
        assert told.data["function"] == "sum_to"
        await agent.call("debug_breakpoint", remove=["1"])
        told = await agent.call("debug_continue")
        assert told.data["status"] == "exited"
        assert told.data["stop"]["exit_code"] == 3


async def test_a_wait_that_ends_first_says_running_and_the_stop_can_be_awaited(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "endless.py", timeoutMs=1)
        told = await agent.call("debug_continue", timeoutMs=50)
        assert told.data["status"] == "running"
        told = await agent.call("debug_session", action="pause")
        assert told.data["status"] == "paused"
        assert (await agent.call("debug_continue", wait=False)).data["status"] == "running"
        told = await agent.call("debug_session", action="wait", timeoutMs=20)
        assert told.data["status"] == "running"


async def test_breakpoints_have_conditions_counts_and_ids_that_are_strings(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.c", stopOnEntry=True)
        line = find_marker("loop.c", "return")
        told = await agent.call(
            "debug_breakpoint",
            add=[
                {"file": str(find_source("loop.c")), "line": line, "condition": "i == 2"},
                {"function": "sum_to", "hitCount": 1},
            ],
        )
        first, second = told.data["breakpoints"]
        assert (first["id"], first["line"], first["condition"]) == ("1", line, "i == 2")
        assert second["hitCount"] == 1
        assert (await agent.call("debug_continue")).data["function"] == "sum_to"
        told = await agent.call("debug_continue")
        assert told.data["breakpointId"] == "1"
        assert (await agent.call("debug_read", targets=[{"variable": "i"}])).data["results"] == [
            {"variable": "i", "value": "2", "type": "int"}
        ]
        told = await agent.call("debug_breakpoint", remove=["1", 2])
        assert told.data["removed"] == ["1", "2"]
        assert (await agent.call("debug_breakpoint")).data["breakpoints"] == []


async def test_a_logpoint_and_a_trace_write_to_the_timeline_without_stopping(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.c", stopOnEntry=True)
        file, line = str(find_source("loop.c")), find_marker("loop.c", "return")
        told = await agent.call(
            "debug_logpoint", add=[{"file": file, "line": line, "message": "at {i}"}]
        )
        assert told.data["logpoints"][0]["line"] == line
        await agent.call("debug_trace", add=["sum_to"])
        assert (await agent.call("debug_continue")).data["status"] == "exited"
        told = await agent.call("debug_query", eventType=["logpoint"])
        assert [one["text"] for one in told.data["events"]] == [
            "enter sum_to",
            *(f"at {number}" for number in range(1, 6)),
        ]
        assert told.data["eventsDropped"] == 0
        again = await agent.call("debug_query", afterEventId=told.data["next"])
        assert "logpoint" not in {one["kind"] for one in again.data["events"]}


async def test_values_are_written_and_told_before_and_after(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "memory.c", "local")
        told = await agent.call(
            "debug_write",
            targets=[{"variable": "local", "value": 40}, {"variable": "counter", "value": 9}],
        )
        results = [
            {name: one[name] for name in ("variable", "previousValue", "newValue")}
            for one in told.data["results"]
        ]
        assert results == [
            {"variable": "local", "previousValue": "5", "newValue": "40"},
            {"variable": "counter", "previousValue": "3", "newValue": "9"},
        ]
        address = (await agent.call("debug_evaluate", expression="&pair")).data["value"]
        address = re.findall("0x[0-9a-f]+", address)[0]
        told = await agent.call(
            "debug_write", targets=[{"address": address, "type": "i32", "value": -7}]
        )
        assert told.data["results"] == [{"address": address, "previousValue": 1, "newValue": -7}]
        told = await agent.call("debug_read", targets=[{"address": address, "type": "i32"}])
        assert told.data["results"] == [{"address": address, "value": -7, "type": "i32"}]
        await agent.call("debug_breakpoint", remove=["1"])
        assert "40" not in (await agent.call("debug_continue")).text.partition("output")[0]


async def test_a_frame_is_chosen_by_its_index_and_a_value_paged(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.c", "step")
        told = await agent.call("debug_variables", frameIndex=1)
        assert {one["name"] for one in told.data["variables"]} >= {"sum", "n"}
        told = await agent.call("debug_evaluate", expression="n", frameIndex=1)
        assert told.data["value"] == "5"
        told = await agent.call("debug_stack", threadIndex=0, maxFrames=1, withLocals=True)
        assert [one["function"] for one in told.data["frames"]] == ["calculate"]


async def test_the_sessions_of_an_agent_are_those_of_the_shell(cli) -> None:
    async with connect_stdio() as agent:
        told = await launched(agent, "loop.c", "step")
        name = told.data["sessionId"]
        assert name in cli("sessions").out
        cli("break", "sum_to", check=0)
        assert len((await agent.call("debug_breakpoint")).data["breakpoints"]) == 2
        assert (await agent.call("debug_session", action="status", debugSessionId=name)).data[
            "state"
        ] == "stopped"
        assert (await agent.call("debug_detach", sessionId=name)).data["ended"] == [name]
        assert "no session" in cli("sessions").out


async def test_an_agent_goes_on_with_its_own_session_when_another_begins(cli) -> None:
    async with connect_stdio() as agent, connect_stdio() as other:
        mine = (await launched(agent, "loop.c", "step")).data["sessionId"]
        theirs = (await launched(other, "memory.c", "local")).data["sessionId"]
        assert (await agent.call("debug_session")).data["session"] == mine
        assert (await other.call("debug_session")).data["session"] == theirs
        await agent.call("debug_session", action="use", sessionId=theirs)
        assert (await agent.call("debug_session")).data["session"] == theirs


async def test_resources_are_the_source_the_output_and_the_timeline(cli) -> None:
    async with connect_stdio() as agent:
        name = (await launched(agent, "loop.c", "return")).data["sessionId"]
        listed = (await agent.client.list_resources()).resources
        assert [str(one.uri).rpartition("/")[2] for one in listed] == [
            "source",
            "output",
            "timeline",
        ]
        texts = {}
        for one in listed:
            (content,) = (await agent.client.read_resource(str(one.uri))).contents
            texts[str(one.uri).rpartition("/")[2]] = content.text
        assert "return i * i;" in texts["source"]
        assert texts["output"] == "step 1\n"
        assert "breakpoint_hit" in texts["timeline"]
        # What was read as a resource is still unread for a person.
        assert "step 1" in cli("output", "--session", name).out
        templates = (await agent.client.list_resource_templates()).resource_templates
        assert {one.uri_template for one in templates} == {
            f"debugger://session/{{session}}/{part}" for part in texts
        }


async def test_a_prompt_holds_what_it_was_given(runtime_dir) -> None:
    async with connect_stdio() as agent:
        listed = {one.name: one for one in (await agent.client.list_prompts()).prompts}
        assert set(listed) == {"find-crash", "find-writer", "find-hang"}
        got = await agent.client.get_prompt(
            "find-writer", {"expression": "a{b}", "command": "./app -x", "place": "main.c:3"}
        )
        text = got.messages[0].content.text
        assert "watch a{b}" in text
        assert "./app -x" in text
        assert "main.c:3" in text


BAD_INPUT = [
    ("debug_breakpoint", {"add": [{}]}, "Provide file + line or function."),
    (
        "debug_breakpoint",
        {"add": [{"file": "a.c", "line": 1, "function": "f"}]},
        "Provide either file/line or function, not both.",
    ),
    ("debug_breakpoint", {"add": [{"line": 3}]}, "file is required when line is provided."),
    ("debug_breakpoint", {"add": [{"file": "a.c"}]}, "Provide file + line or function."),
    ("debug_breakpoint", {"add": [{"functoin": "f"}]}, "functoin"),
    ("debug_breakpoint", {"remove": ["-1"]}, "not the id of a breakpoint: -1"),
    ("debug_breakpoint", {"remove": ["x"]}, "not the id of a breakpoint: x"),
    ("debug_breakpoint", {"remove": ["99"]}, "99"),
    ("debug_breakpoint", {"add": [{"function": "a\nb"}]}, "one line"),
    ("debug_logpoint", {}, "give add or remove"),
    ("debug_trace", {"add": ["audio::*"]}, "by name, not by a pattern"),
    ("debug_continue", {"action": "fly"}, "$.action"),
    ("debug_continue", {"timeoutMs": -5}, "--timeout"),
    ("debug_stack", {"threadIndex": 40}, "Thread index 40 is out of range."),
    ("debug_variables", {"frameIndex": 4000}, "Frame index 4000 is out of range."),
    ("debug_variables", {"ref": "v999"}, "v999"),
    ("debug_evaluate", {"expression": "nosuch + 1"}, "nosuch"),
    ("debug_read", {"targets": []}, "no targets"),
    ("debug_read", {"targets": [{}]}, "give one of variable, address"),
    ("debug_read", {"targets": [{"address": "0x1", "type": "f16"}]}, "no type 'f16'"),
    ("debug_read", {"targets": [{"address": "0x1", "type": "u8"}]}, "0x1"),
    ("debug_write", {"targets": [{"address": "0x1", "type": "u8", "value": 300}]}, "is no u8"),
    ("debug_query", {"eventType": ["nosuch"]}, "no kind of event 'nosuch'"),
    ("debug_query", {"limit": 501}, "1 to 500"),
    ("debug_command", {"command": ""}, "which command?"),
    ("debug_command", {"command": "nosuch"}, "no command 'nosuch'"),
    ("debug_command", {"command": "print 'x"}, "cannot be read"),
    ("debug_command", {"command": "daemon stop"}, "is for a shell"),
    ("debug_command", {"command": "output --follow"}, "has no end here"),
    ("debug_session", {"action": "use"}, "which session?"),
    ("debug_session", {"sessionId": "nosuch"}, "nosuch"),
    ("debug_launch", {"command": "/nosuch"}, "/nosuch"),
    ("debug_attach", {}, "what"),
]


async def test_bad_input_is_an_error_with_a_hint_and_the_session_lives(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.c", "step")
        for name, arguments, says in BAD_INPUT:
            text = await agent.refused(name, **arguments)
            assert says in text, name
            assert text.startswith("error: ")
            assert "\nhint: " in text
            assert (await agent.call("debug_session")).data["state"] == "stopped", name


async def test_a_line_without_code_is_refused_with_the_valid_ones_and_not_kept(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.py", "step")
        text = await agent.refused("debug_breakpoint", add=[{"file": LOOP, "line": 4000}])
        assert re.match(r"error: No code at loop\.py:4000\. Valid lines: \d+(, \d+)*\n", text)
        assert len((await agent.call("debug_breakpoint")).data["breakpoints"]) == 1


async def test_of_several_places_and_values_each_is_answered_good_and_bad(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "loop.py", "step")
        places = [{"file": LOOP, "line": 4000}, {"function": "sum_to"}]
        told = await agent.call("debug_breakpoint", add=places, remove=["77"])
        assert [one["function"] for one in told.data["breakpoints"]] == ["sum_to"]
        assert [one["target"] for one in told.data["failed"]] == ["remove 77", f"{LOOP}:4000"]
        assert "failed: remove 77: no breakpoint 77" in told.text
        targets = [{"variable": "nosuch", "value": 1}, {"variable": "i", "value": 7}]
        results = (await agent.call("debug_write", targets=targets)).data["results"]
        assert "nosuch" in results[0]["error"]
        assert results[1]["newValue"] == "7"


async def test_a_local_is_not_written_while_the_program_runs(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await launched(agent, "endless.py", "count")
        await agent.call("debug_breakpoint", remove=["1"])
        await agent.call("debug_continue", timeoutMs=1)
        text = await agent.refused("debug_write", targets=[{"variable": "counter", "value": 1}])
        assert text.startswith("error: Local variable writes require a paused breakpoint.\n")


async def test_without_a_session_every_tool_says_so(runtime_dir) -> None:
    needs: dict[str, dict[str, Any]] = {
        "debug_breakpoint": {},
        "debug_continue": {},
        "debug_stack": {},
        "debug_variables": {},
        "debug_evaluate": {"expression": "1"},
        "debug_query": {},
        "debug_detach": {},
        "debug_session": {},
    }
    async with connect_stdio() as agent:
        for name, arguments in needs.items():
            assert "session" in await agent.refused(name, **arguments), name
        assert "no sessions" in (await agent.call("debug_session", action="list")).text
