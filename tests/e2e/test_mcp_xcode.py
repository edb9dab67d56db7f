"""XcodeBuildMCP's debugging tools, by their names, arguments and words.

The simulator is a scripted xcrun; the app on it is a process of this machine, really attached to.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from debuggees import build_debuggee, find_marker, find_source
from fakes.fake_xcrun import LIST, FakeXcrun, list_arguments, simulator_device
from mcp_client import McpConnection, ToolAnswer, connect_stdio
from running_programs import find_tracer, process_state, run_program

UDID = "11111111-2222-3333-4444-555555555555"
OTHER = "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE"
APP = "com.example.app"
FILE, LINE = str(find_source("app.c")), find_marker("app.c", "handled")
EIGHT = {
    "debug_attach_sim": {
        *("simulatorId", "simulatorName", "bundleId", "pid"),
        *("waitFor", "continueOnAttach", "makeCurrent"),
    },
    "debug_breakpoint_add": {"debugSessionId", "file", "line", "function", "condition"},
    "debug_breakpoint_remove": {"debugSessionId", "breakpointId"},
    "debug_continue": {"debugSessionId"},
    "debug_detach": {"debugSessionId"},
    "debug_lldb_command": {"debugSessionId", "command", "timeoutMs"},
    "debug_stack": {"debugSessionId", "threadIndex", "maxFrames"},
    "debug_variables": {"debugSessionId", "frameIndex"},
}
INVALID = "Error: Parameter validation failed\nDetails: Invalid parameters:\n"
NO_SESSION = "No active debug session. Provide debugSessionId or attach first."
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
lldb = pytest.mark.adapter("lldb-dap")


@pytest.fixture
def xcrun(tmp_path, runtime_dir, monkeypatch) -> FakeXcrun:
    """Give a machine with one simulator, on which nothing runs, and no defaults."""
    for name in ("SIMULATOR_ID", "SIMULATOR_NAME", "BUNDLE_ID"):
        monkeypatch.delenv(f"XCODEBUILDMCP_{name}", raising=False)
    monkeypatch.delenv("XCODEBUILDMCP_DEBUGGER_BACKEND", raising=False)
    fake = FakeXcrun(tmp_path)
    fake.has(simulator_device(UDID, "iPhone 16", state="Booted"))
    fake.runs(UDID, {})
    return fake


@pytest.fixture
def pid(xcrun) -> Iterator[int]:
    """Run the app on the simulator."""
    with run_program(build_debuggee("app.c"), ready="serving") as process:
        xcrun.runs(UDID, {"UIKitApplication:com.example.app.helper[1]": 1, label(APP): process.pid})
        yield process.pid


def label(bundle_id: str) -> str:
    return f"UIKitApplication:{bundle_id}[3f2a][rb-legacy]"


async def attached(agent: McpConnection, **more: Any) -> ToolAnswer:
    return await agent.call(
        "debug_attach_sim", **{"simulatorName": "iPhone 16", "bundleId": APP, **more}
    )


async def stopped(agent: McpConnection, condition: str | None = None) -> None:
    """Attach, and run to the breakpoint."""
    await attached(agent)
    more = {"condition": condition} if condition else {}
    await agent.call("debug_breakpoint_add", file=FILE, line=LINE, **more)
    told = await agent.call("debug_session", action="wait", timeoutMs=20_000)
    assert told.data["status"] == "paused"


# --- what is listed ---


async def test_the_eight_tools_are_listed_with_their_arguments_and_annotations(xcrun):
    async with connect_stdio(toolset="xcodebuildmcp") as agent:
        listed = {one.name: one for one in await agent.list_tools()}
    for name, arguments in EIGHT.items():
        tool = listed[name]
        assert set(tool.input_schema["properties"]) == arguments, name
        assert tool.annotations is not None
        assert tool.output_schema is not None
    required = {name: set(listed[name].input_schema.get("required", ())) for name in EIGHT}
    assert {name: one for name, one in required.items() if one} == {
        "debug_breakpoint_remove": {"breakpointId"},
        "debug_lldb_command": {"command"},
    }
    properties = listed["debug_attach_sim"].input_schema["properties"]
    assert (properties["continueOnAttach"]["default"], properties["makeCurrent"]["default"]) == (
        True,
        True,
    )
    readers = {name for name in EIGHT if listed[name].annotations.read_only_hint}
    assert readers == {"debug_stack", "debug_variables"}
    # What the eight cannot: another process than an app's, and to wait for a stop.
    assert set(listed) - set(EIGHT) == {
        *("session_set_defaults", "session_show_defaults", "session_clear_defaults"),
        *("debug_attach", "debug_session", "doctor"),
    }


# --- the whole walk ---


@linux
@pytest.mark.parametrize(
    ("backend", "chosen", "label"),
    [
        pytest.param("dap", "dap", "DAP debugger", marks=pytest.mark.adapter("lldb-dap")),
        pytest.param("lldb", "lldb-cli", "LLDB", marks=pytest.mark.adapter("lldb-cli")),
    ],
)
async def test_a_whole_walk_from_attach_to_detach(xcrun, pid, backend, chosen, label):
    env = {**xcrun.env, "XCODEBUILDMCP_DEBUGGER_BACKEND": backend}
    async with connect_stdio(toolset="xcodebuildmcp", env=env) as agent:
        schemas = {one.name: one.output_schema for one in await agent.list_tools()}

        async def call(name: str, **arguments: Any) -> ToolAnswer:
            told = await agent.call(name, **arguments)
            jsonschema.validate(told.data, schemas[name])
            return told

        told = await call("debug_attach_sim", simulatorName="iPhone 16", bundleId=APP)
        session = told.data["debugSessionId"]
        assert told.data == {
            "debugSessionId": session,
            "simulatorId": UDID,
            "pid": pid,
            "backend": chosen,
            "state": "running",
            "isCurrent": True,
        }
        assert told.text.startswith(
            f"✅ Attached {label} to simulator process {pid} ({UDID}).\n\n"
            f"Debug session ID: {session}\n"
            "This session is now the current debug session.\n"
            "Execution resumed after attach."
        )
        assert xcrun.calls == [LIST, list_arguments(UDID)]
        told = await call(
            "debug_breakpoint_add", file=FILE, line=LINE, condition="request % 100 == 0"
        )
        number = told.data["breakpointId"]
        assert told.text == (
            f"✅ Breakpoint {number} set.\n\n"
            f"Set breakpoint {number} at {FILE}:{LINE} if request % 100 == 0"
        )
        await call("debug_session", action="wait", timeoutMs=20_000)
        told = await call("debug_stack")
        lines = told.text.splitlines()
        assert lines[0].startswith("Thread ")
        assert lines[1] == f"frame #0: handle at {FILE}:{LINE}"
        assert lines[2] == f"frame #1: serve at {FILE}:{find_marker('app.c', 'call')}"
        told = await call("debug_stack", threadIndex=0, maxFrames=1)
        assert len(told.text.splitlines()) == 2
        told = await call("debug_variables")
        values = {one["name"]: one["value"] for one in told.data["variables"]}
        assert int(values["request"]) % 100 == 0
        lines = [f"  {name} (int) = {values[name]}" for name in ("request", "doubled")]
        assert told.text.splitlines()[:3] == ["Locals:", *lines]
        told = await call("debug_variables", frameIndex=1)
        assert {one["name"] for one in told.data["variables"]} == {"request", "answer"}
        # No index is the innermost frame, whatever was looked at before.
        assert (await call("debug_variables")).data["frame"]["function"] == "handle"
        told = await call("debug_lldb_command", command="frame variable doubled", timeoutMs=9000)
        assert told.text == f"(int) doubled = {values['doubled']}"
        # It resumes and returns at once; the next stop is another request's.
        assert (await call("debug_continue")).text == f"✅ Resumed debugger session {session}."
        await call("debug_session", action="wait", timeoutMs=20_000)
        now = (await call("debug_variables")).data["variables"][0]["value"]
        assert int(now) == int(values["request"]) + 100
        told = await call("debug_breakpoint_remove", breakpointId=number)
        assert told.text == f"✅ Breakpoint {number} removed.\n\nRemoved breakpoint {number}."
        assert (await call("debug_detach")).text == f"✅ Detached debugger session {session}."
        assert (find_tracer(pid), process_state(pid) in {"S", "R"}) == (0, True)
        assert NO_SESSION in await agent.refused("debug_stack")


@linux
@lldb
async def test_a_pid_is_attached_to_without_looking_for_an_app(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        told = await agent.call(
            "debug_attach_sim", simulatorId=UDID, simulatorName="", bundleId="", pid=pid
        )
        assert (told.data["pid"], told.data["simulatorId"]) == (pid, UDID)
        assert xcrun.calls == []
        await agent.call("debug_detach", debugSessionId="")


@linux
@lldb
async def test_it_stays_paused_where_that_is_asked(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        told = await attached(agent, continueOnAttach=False)
        assert told.data["state"] == "stopped"
        assert (
            "Execution is paused. Use debug_continue to resume before UI automation." in told.text
        )
        assert "frame #0: " in (await agent.call("debug_stack")).text
        await agent.call("debug_continue")
        assert (await agent.call("debug_session")).data["state"] == "running"


@linux
@lldb
async def test_a_session_that_is_not_made_current_leaves_the_shells_current_one(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        await attached(agent)
        with run_program(build_debuggee("app.c"), ready="serving") as other:
            told = await attached(agent, bundleId=None, pid=other.pid, makeCurrent=False)
            listed = (await agent.call("debug_session", action="list")).data
            assert len(listed["sessions"]) == 2
            assert listed["current"] != told.data["debugSessionId"]
            await agent.call("debug_detach", debugSessionId=told.data["debugSessionId"])
        await agent.call("debug_detach")


@lldb
async def test_a_session_that_is_not_made_current_is_meant_only_by_its_id(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        told = await attached(agent, makeCurrent=False, continueOnAttach=False)
        assert "This session is not set as the current session." in told.text
        assert NO_SESSION in await agent.refused("debug_stack")
        session = told.data["debugSessionId"]
        for key in ("debugSessionId", "sessionId"):
            assert (await agent.call("debug_stack", **{key: session})).data["frames"]
        await agent.call("debug_detach", debugSessionId=session)


@linux
@lldb
async def test_an_app_is_waited_for(xcrun, pid):
    xcrun.runs(UDID, {}, {label(APP): "-"}, {label(APP): pid})
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        assert (await attached(agent, waitFor=True)).data["pid"] == pid
    assert xcrun.calls == [LIST, *[list_arguments(UDID)] * 3]


@linux
@lldb
async def test_a_name_that_looks_like_an_identifier_is_taken_as_one_and_said(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        told = await attached(agent, simulatorName=UDID)
        assert told.text.startswith(f"⚠️ The simulatorName '{UDID}' appears to be a UUID. ")


# --- defaults ---


@linux
@lldb
async def test_defaults_of_the_session_stand_in_for_arguments(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        told = await agent.call("session_set_defaults", simulatorId=UDID, bundleId="com.other")
        assert told.text.startswith("Defaults updated:\n{")
        told = await agent.call("session_set_defaults", simulatorName="iPhone 16")
        assert told.text.endswith(
            "\nNotices:\n- Cleared simulatorId because simulatorName was set."
        )
        assert (await agent.call("session_show_defaults")).data == {
            "simulatorName": "iPhone 16",
            "bundleId": "com.other",
        }
        # A pid is no app's: the default of the bundle id does not count.
        assert (await agent.call("debug_attach_sim", pid=pid)).data["pid"] == pid
        await agent.call("debug_detach")
        # An argument comes before a default.
        assert (await agent.call("debug_attach_sim", bundleId=APP)).data["pid"] == pid
        await agent.call("debug_detach")
        await agent.call("session_clear_defaults", keys=["bundleId"])
        assert (await agent.call("session_show_defaults")).data == {"simulatorName": "iPhone 16"}
        assert (await agent.call("session_clear_defaults")).text == "Session defaults cleared"
        assert (await agent.call("session_show_defaults")).data == {}


@linux
@lldb
async def test_the_configuration_comes_before_the_environment(xcrun, pid, runtime_dir):
    (runtime_dir / "config.toml").write_text(f'[simulator]\nbundle_id = "{APP}"\n')
    env = {
        **xcrun.env,
        "XCODEBUILDMCP_SIMULATOR_NAME": "iPhone 16",
        "XCODEBUILDMCP_BUNDLE_ID": "com.other",
    }
    async with connect_stdio(toolset="xcodebuildmcp", env=env) as agent:
        assert (await agent.call("debug_attach_sim")).data["pid"] == pid


async def test_what_is_missing_is_told_before_anything_is_run(xcrun):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        assert await agent.refused("debug_attach_sim", bundleId=APP) == (
            "Error: Missing required session defaults\n"
            "Details: Provide simulatorId or simulatorName\n"
            'Set with: session_set_defaults { "simulatorId": "..." } '
            'OR session_set_defaults { "simulatorName": "..." }'
        )
        assert await agent.refused("debug_attach_sim", simulatorName="iPhone 16") == (
            f"{INVALID}root: Provide either bundleId or pid to attach.\n"
            "Tip: set session defaults via session_set_defaults"
        )
    assert xcrun.calls == []


# --- bad input ---


BAD: list[tuple[str, dict[str, Any], str]] = [
    (
        "debug_breakpoint_add",
        {"file": "a.c", "line": 1, "function": "f"},
        "root: Provide either file/line or function, not both.",
    ),
    ("debug_breakpoint_add", {}, "root: Provide file + line or function."),
    (
        "debug_breakpoint_add",
        {"file": "", "function": "", "line": ""},
        "root: Provide file + line or function.",
    ),
    ("debug_breakpoint_add", {"file": "a.c"}, "root: Provide file + line or function."),
    ("debug_breakpoint_add", {"line": 1}, "root: file is required when line is provided."),
    (
        "debug_breakpoint_add",
        {"file": "a.c", "line": 0},
        "line: Number must be greater than 0",
    ),
    ("debug_breakpoint_add", {"file": 5, "line": 1}, "$.file"),
    ("debug_breakpoint_add", {"fiel": "a.c", "line": 1}, "did you mean file?"),
    (
        "debug_breakpoint_remove",
        {"breakpointId": -1},
        "breakpointId: Number must be greater than 0",
    ),
    (
        "debug_breakpoint_remove",
        {"breakpointId": 0},
        "breakpointId: Number must be greater than 0",
    ),
    ("debug_breakpoint_remove", {"breakpointId": "1"}, "$.breakpointId"),
    ("debug_breakpoint_remove", {}, "`breakpointId`"),
    ("debug_lldb_command", {"command": ""}, "`command`"),
    (
        "debug_lldb_command",
        {"command": "bt", "timeoutMs": 0},
        "timeoutMs: Number must be greater than 0",
    ),
    (
        "debug_stack",
        {"threadIndex": -1},
        "threadIndex: Number must be greater than or equal to 0",
    ),
    ("debug_stack", {"maxFrames": 0}, "maxFrames: Number must be greater than 0"),
    (
        "debug_variables",
        {"frameIndex": -1},
        "frameIndex: Number must be greater than or equal to 0",
    ),
    (
        "debug_attach_sim",
        {"simulatorId": UDID, "bundleId": APP, "pid": 5},
        "root: bundleId and pid are mutually exclusive. Provide only one.",
    ),
    (
        "debug_attach_sim",
        {"simulatorId": UDID, "simulatorName": "iPhone 16", "pid": 5},
        "root: simulatorId and simulatorName are mutually exclusive. Provide only one.",
    ),
    ("debug_attach_sim", {"simulatorId": UDID, "pid": 0}, "pid: Number must be greater than 0"),
    (
        "debug_attach_sim",
        {"simulatorId": UDID, "pid": 5, "waitFor": True},
        "root: waitFor is only valid when attaching by bundleId.",
    ),
    (
        "session_set_defaults",
        {"simulatorId": UDID, "simulatorName": "iPhone 16"},
        "simulatorId: simulatorId and simulatorName are mutually exclusive. Provide only one.",
    ),
    ("session_set_defaults", {"scheme": "App"}, "has no 'scheme'"),
    ("session_clear_defaults", {"keys": ["scheme"]}, "$.keys"),
]


async def test_bad_input_is_refused_before_anything_is_done(xcrun):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        for name, arguments, says in BAD:
            text = await agent.refused(name, **arguments)
            assert text.startswith(INVALID), (name, arguments)
            assert says in text, (name, arguments)
    assert xcrun.calls == []


FAILURES: list[tuple[str, dict[str, Any], str]] = [
    ("debug_breakpoint_add", {"function": "f"}, "Failed to add breakpoint"),
    ("debug_breakpoint_remove", {"breakpointId": 1}, "Failed to remove breakpoint"),
    ("debug_continue", {}, "Failed to resume debugger"),
    ("debug_detach", {}, "Failed to detach debugger"),
    ("debug_lldb_command", {"command": "bt"}, "Failed to run LLDB command"),
    ("debug_stack", {}, "Failed to get stack"),
    ("debug_variables", {}, "Failed to get variables"),
]


async def test_without_a_session_or_with_an_id_of_none_that_is_said(xcrun):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        for name, arguments, failed in FAILURES:
            text = await agent.refused(name, **arguments)
            assert text == f"Error: {failed}\nDetails: {NO_SESSION}"
            text = await agent.refused(name, debugSessionId="nosuch", **arguments)
            assert text == f"Error: {failed}\nDetails: Debug session not found: nosuch"


@linux
@lldb
async def test_what_a_stopped_or_a_running_program_cannot_tell_is_said(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        await stopped(agent)
        for name, arguments, failed in (
            (
                "debug_stack",
                {"threadIndex": 40},
                "Failed to get stack\nDetails: Thread index 40 is out of range.",
            ),
            (
                "debug_variables",
                {"frameIndex": 400},
                "Failed to get variables\nDetails: Frame index 400 is out of range.",
            ),
            (
                "debug_breakpoint_remove",
                {"breakpointId": 99},
                "Failed to remove breakpoint\nDetails: Breakpoint not found: 99",
            ),
        ):
            assert await agent.refused(name, **arguments) == f"Error: {failed}"
        text = await agent.refused("debug_breakpoint_add", file=FILE, line=1)
        assert text.startswith(
            "Error: Failed to add breakpoint\nDetails: No code at app.c:1. Valid lines: "
        )
        text = await agent.refused("debug_lldb_command", command="frame variable nosuch")
        assert text.startswith("Error: Failed to run LLDB command\nDetails: ")
        text = await agent.refused("debug_lldb_command", command="platform shell id")
        assert "could run a shell" in text
        # A line more would be a command more.
        for words in ({"function": "a\nb"}, {"file": FILE, "line": LINE, "condition": "1\nquit"}):
            assert "one line" in await agent.refused("debug_breakpoint_add", **words)
        await agent.call("debug_breakpoint_remove", breakpointId=1)
        await agent.call("debug_continue")
        for name, what in (("debug_stack", "stack"), ("debug_variables", "variables")):
            assert await agent.refused(name) == (
                f"Error: Failed to get {what}\n"
                f"Details: Process is running; pause or hit a breakpoint to fetch {what}."
            )
        text = await agent.refused("debug_stack", threadIndex=0)
        assert "Process is running; pause or hit a breakpoint to fetch stack." in text


# In this order in one session: the calls that the hints name continue it, pause it and end it.
HINTED = [
    ("debug_session", {"action": "use", "sessionId": "nope"}),
    ("debug_lldb_command", {"command": "nope"}),
    ("debug_lldb_command", {"command": "expression nope"}),
    ("debug_session", {"action": "wait"}),
    ("debug_lldb_command", {"command": "thread step-over"}),
    ("debug_lldb_command", {"command": "process kill"}),
]
_CALL = re.compile(r"\b((?:debug|session)_\w+|doctor)\b(?: (\{.*?\}))?")


@linux
@lldb
async def test_the_call_that_a_hint_names_is_taken_where_it_is_given(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        await stopped(agent)
        await agent.call("debug_breakpoint_remove", breakpointId=1)
        for tool, arguments in HINTED:
            _, _, hint = (await agent.refused(tool, **arguments)).partition("\nhint: ")
            name, given = next(_CALL.finditer(hint)).groups()
            await agent.call(name, **json.loads(given or "{}"))


@linux
@lldb
async def test_a_breakpoint_that_is_not_bound_says_why(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        await stopped(agent)
        told = await agent.call("debug_breakpoint_add", function="nosuch")
        assert told.data["verified"] is False
        assert "\n⚠️ Not bound yet: no function nosuch in the program" in told.text
        told = await agent.call("debug_breakpoint_add", function="handle", file="", line="")
        number = told.data["breakpointId"]
        assert told.text.endswith(f"Set breakpoint {number} on handle")


@linux
@lldb
async def test_a_command_of_lldb_has_a_bound(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        await stopped(agent)
        # The one lets the program run and is broken off; the other keeps LLDB itself busy.
        for command in ("expression (int)pause()", "expression -t 2000000 -- while (1);"):
            text = await agent.refused("debug_lldb_command", command=command, timeoutMs=300)
            assert text.startswith(
                "Error: Failed to run LLDB command\nDetails: LLDB command timed out after 300ms"
            )
            assert "frame #0: handle" in (await agent.call("debug_stack")).text
        # What broke it off does not stop the program later.
        await agent.call("debug_continue")
        told = await agent.call("debug_session", action="wait", timeoutMs=20_000)
        assert told.data["stop"]["reason"] == "breakpoint"


# --- simulators that are not as they should be ---


LOST: list[tuple[dict[str, Any], str]] = [
    ({}, f"No running process found for {APP} on simulator {UDID}"),
    ({"bundleId": "com.example"}, "No running process found for com.example on simulator"),
    ({"simulatorName": "iPhone 61"}, "Simulator 'iPhone 61' not found"),
    ({"simulatorName": "iPhone 5"}, "Simulator 'iPhone 5' exists but is not available"),
    ({"simulatorName": "", "simulatorId": OTHER}, "was not told what to say"),
]


async def test_an_app_that_cannot_be_found_is_told(xcrun):
    xcrun.has(
        simulator_device(UDID, "iPhone 16"), simulator_device(OTHER, "iPhone 5", isAvailable=False)
    )
    xcrun.runs(UDID, {label(APP): "-", label("com.example.helper"): 1})
    async with connect_stdio(toolset="xcodebuildmcp", env=xcrun.env) as agent:
        for arguments, says in LOST:
            wanted = {"simulatorName": "iPhone 16", "bundleId": APP, **arguments}
            text = await agent.refused("debug_attach_sim", **wanted)
            assert text.startswith("Error: Failed to attach debugger\nDetails: ")
            assert says in text
        assert NO_SESSION in await agent.refused("debug_stack")


async def test_without_xcrun_another_way_is_named(runtime_dir, tmp_path):
    async with connect_stdio(toolset="xcodebuildmcp", env={"PATH": str(tmp_path)}) as agent:
        text = await agent.refused("debug_attach_sim", simulatorId=UDID, pid=1)
        assert "xcrun is not on the PATH" in text
        assert 'debug_attach {"pid": ' in text


@linux
@lldb
async def test_a_process_that_is_no_app_is_attached_to_and_theirs_work_on_it(xcrun, pid):
    async with connect_stdio(toolset="xcodebuildmcp") as agent:
        await agent.call("debug_attach", pid=pid, pause=True)
        assert "Thread " in (await agent.call("debug_stack")).text
        text = (await agent.call("debug_detach")).text
        assert text.startswith("✅ Detached debugger session ")


# --- all tools at once ---


async def test_in_the_toolset_of_all_ours_take_every_argument_of_theirs(xcrun):
    async with connect_stdio(toolset="all") as agent, connect_stdio(toolset="core") as core:
        every = {one.name: one for one in await agent.list_tools()}
        ours = {one.name: one for one in await core.list_tools()}
    assert set(EIGHT) | set(ours) <= set(every)
    for name in set(EIGHT) & set(ours):
        assert every[name].description == ours[name].description, name
        taken = {*every[name].input_schema["properties"], "debugSessionId"}
        assert EIGHT[name] <= taken, name


@linux
@lldb
async def test_theirs_and_ours_work_on_one_session(xcrun, pid):
    async with connect_stdio(toolset="all", env=xcrun.env) as agent:
        session = (await attached(agent)).data["debugSessionId"]
        await agent.call("debug_breakpoint_add", file=FILE, line=LINE)
        assert (await agent.call("debug_session", action="wait", timeoutMs=20_000)).data[
            "status"
        ] == "paused"
        for arguments in ({"threadIndex": 0, "maxFrames": 2}, {"debugSessionId": session}):
            assert (await agent.call("debug_stack", **arguments)).data["frames"]
        told = await agent.call("debug_variables", frameIndex=0, debugSessionId=session)
        assert {one["name"] for one in told.data["variables"]} == {"request", "doubled"}
        told = await agent.call("debug_continue", debugSessionId=session)
        assert told.data["status"] == "paused"
        await agent.call("debug_breakpoint_remove", breakpointId=1)
        assert (await agent.call("debug_detach", debugSessionId=session)).data["ended"] == [session]
