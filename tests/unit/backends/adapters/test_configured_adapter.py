"""A section of the configuration becomes an adapter, or a clear error."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.backends import select_backend
from debugger.backends.adapters import configured_adapter
from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.backends.dap.debug_adapter import (
    AdapterLocation,
    AdapterSearch,
    DebugAdapter,
    StreamFiles,
)
from debugger.backends.dap.messages import StoppedBody
from debugger.config import AdapterSettings
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    Scope,
    ScopeKind,
    StopReason,
    Variable,
)

FILES = StreamFiles("/s/in", "/s/out", "/s/err")
LAUNCH = LaunchTarget("/p/x.rb", cwd="/p", env={"A": "1"}, args=("a", "b c"))


def make_adapter(**more: Any) -> DebugAdapter:
    section = {"command": ("tool", "--dap"), "languages": ("x",), **more}
    return configured_adapter.SectionAdapter("own", AdapterSettings(**section))


def refused(**more: Any) -> str:
    with pytest.raises(DebuggerError) as found:
        make_adapter(**more)
    assert found.value.code is ErrorCode.USAGE
    assert found.value.message.startswith("[adapters.own]: ")
    return found.value.message


def test_the_values_of_a_launch_are_filled_in():
    adapter = make_adapter(
        launch={
            "program": "{program}",
            "args": ["-x", "{args}"],
            "argv": "{args}",
            "env": "{env}",
            "stop": "{stop_on_entry}",
            "deep": {"list": ["{cwd}/log", 3, None, True]},
            "stdio": ["{stdin}", "{stdout}", "{stderr}"],
            "text": "in {cwd}: {program}",
        }
    )
    assert adapter.launch_arguments(LAUNCH, FILES) == {
        "request": "launch",
        "program": "/p/x.rb",
        "args": ["-x", "a", "b c"],
        "argv": ["a", "b c"],
        "env": {"A": "1"},
        "stop": False,
        "deep": {"list": ["/p/log", 3, None, True]},
        "stdio": ["/s/in", "/s/out", "/s/err"],
        "text": "in /p: /p/x.rb",
    }
    assert make_adapter(request="attach").launch_arguments(LAUNCH, FILES) == {"request": "attach"}


def test_what_a_program_is_called_is_no_placeholder():
    odd = LaunchTarget("/p/{port}.rb", cwd="/p", env={}, args=("{program}",))
    adapter = make_adapter(launch={"program": "{program}", "args": "{args}"})
    assert adapter.launch_arguments(odd, FILES)["program"] == "/p/{port}.rb"
    assert adapter.launch_arguments(odd, FILES)["args"] == ["{program}"]


def test_a_command_is_the_program_with_its_words():
    command = ("rdbg", "--port", "{port}", "--", "{program}", "{args}")
    adapter = make_adapter(command=command, transport="tcp", connect="127.0.0.1:{port}")
    assert adapter.server is not None
    assert adapter.server.is_program
    assert adapter.is_server
    found = AdapterLocation(("/usr/bin/rdbg", *command[1:], "-v"))
    assert adapter.server.words(found, LAUNCH, 4711) == [
        *("/usr/bin/rdbg", "-v", "--port", "4711", "--", "/p/x.rb", "a", "b c")
    ]


def test_it_is_found_on_the_callers_path_or_where_it_is_said_to_be(tmp_path):
    (tmp_path / "tool").touch(0o755)
    adapter = make_adapter()
    assert adapter.find_installation(AdapterSearch({"PATH": "/nonexistent"})) is None
    found = adapter.find_installation(AdapterSearch({"PATH": str(tmp_path)}, args=("-v",)))
    assert found == AdapterLocation((str(tmp_path / "tool"), "--dap", "-v"))
    assert adapter.find_installation(AdapterSearch({}, path="/x/tool")) == AdapterLocation(
        ("/x/tool", "--dap")
    )


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ({"pid": 7}, {"processId": 7, "request": "attach"}),
        ({"connect": ("h", 1)}, None),
        ({"core": "/core"}, None),
    ],
)
def test_an_attach_is_sent_as_it_is_configured_or_refused(target, sent):
    given = AttachTarget(**{"pid": None, "cwd": "/", "env": {}, **target})
    adapter = make_adapter(attach={"processId": "{pid}"})
    if sent is not None:
        assert adapter.attach_arguments(given) == sent
        return
    for one in (adapter, make_adapter()):
        with pytest.raises(DebuggerError) as found:
            one.attach_arguments(given)
        assert found.value.code is ErrorCode.NOT_SUPPORTED
        assert "[adapters.own] attach" in (found.value.hint or "")


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ({"launch": {"program": "{progam}"}}, "no placeholder {progam}; did you mean {program}?"),
        ({"launch": {"a": ["{xyzzy}"]}}, "no placeholder {xyzzy}; there are: {program}, "),
        ({"languages": ()}, "languages or extensions"),
        ({"command": ("{program}",)}, "no placeholder"),
        ({"command": ("tool", "{env}")}, "{env} is not known when the command is run"),
        ({"command": ("tool", "{program}")}, "transport tcp"),
        ({"transport": "tcp"}, "listens"),
        ({"listens": "(?P<port>1)"}, 'transport = "tcp"'),
        ({"transport": "tcp", "listens": "("}, "regular expression"),
        ({"transport": "tcp", "listens": "[0-9]+"}, "group named port"),
        ({"transport": "tcp", "connect": "{port}"}, "HOST:{port}"),
    ],
)
def test_what_cannot_be_meant_is_said(section, says):
    assert says in refused(**section)


def test_a_section_without_a_command_is_for_one_of_ours():
    assert set(select_backend.list_adapters({"gdb": AdapterSettings(path="/x")})) == set(
        select_backend.ADAPTERS
    )
    own = {"own": AdapterSettings(command=("tool",), extensions=(".x",))}
    assert set(select_backend.list_adapters(own)) == {*select_backend.ADAPTERS, "own"}
    with pytest.raises(DebuggerError) as found:
        select_backend.list_adapters({"gbd": AdapterSettings(path="/x")})
    assert found.value.code is ErrorCode.USAGE
    assert "lldb-dap, debugpy" in found.value.message
    assert "did you mean gdb?" in (found.value.hint or "")


def test_the_adapter_is_chosen_by_the_end_of_a_name_before_its_language():
    own = {"own": AdapterSettings(command=("tool",), extensions=(".special.py", ".x"))}
    chosen = select_backend.choose_program_adapter("/p/a.special.py", "python", {}, own)
    assert chosen is not None
    assert chosen.name == "own"
    chosen = select_backend.choose_program_adapter("/p/a.py", "python", {}, own)
    assert chosen is not None
    assert chosen.name == "debugpy"
    assert select_backend.choose_program_adapter("/p/a.unknown", "", {}, own) is None


def test_of_several_adapters_the_first_that_is_here_is_taken(tmp_path):
    (tmp_path / "here").touch(0o755)
    one = AdapterSettings(command=("nosuchtool",), languages=("x",))
    two = AdapterSettings(command=("here",), languages=("x",))
    env = {"PATH": str(tmp_path)}
    chosen = select_backend.choose_program_adapter("/p/a", "x", env, {"one": one, "two": two})
    assert chosen is not None
    assert chosen.name == "two"
    gone = AdapterSettings(command=("nosuchtool",), languages=("x",), path="/nonexistent/tool")
    chosen = select_backend.choose_program_adapter("/p/a", "x", env, {"one": gone, "two": two})
    assert chosen is not None
    assert chosen.name == "one"  # what was configured and is not there is to be told
    chosen = select_backend.choose_program_adapter(
        "/p/a", "x", {"PATH": "/nonexistent"}, {"one": one, "two": two}
    )
    assert chosen is not None
    assert chosen.name == "one"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("break", StopReason.BREAKPOINT),
        ("hit a breakpoint", StopReason.BREAKPOINT),
        ("function breakpoint", StopReason.FUNCTION_BREAKPOINT),
        ("step", StopReason.STEP),
        ("whatever", StopReason.PAUSE),
    ],
)
def test_the_reason_of_a_stop_may_be_any_text(reason, expected):
    stop = make_adapter().parse_stopped(StoppedBody(reason=reason))
    assert (stop.reason, stop.raw_reason) == (expected, reason)


class VariablesOnly:
    """A connection to an adapter that lists variables, and evaluates nothing."""

    def __init__(self, code: ErrorCode = ErrorCode.EVALUATION_FAILED) -> None:
        self._code = code

    async def send_request(self, command: str, *_: object, failure: ErrorCode) -> object:
        del failure
        raise DebuggerError(self._code, f"{command} is not supported")

    async def read_scopes(self, _frame: Frame) -> list[Scope]:
        return [Scope("Globals", ScopeKind.GLOBALS, 1), Scope("Locals", ScopeKind.LOCALS, 2)]

    async def fetch_variables(self, handle: int, **_: object) -> list[Variable]:
        return [Variable(name="n", value=str(handle))] if handle == 2 else []


@pytest.mark.parametrize(
    ("expression", "value"),
    [("n", "2"), ("m", None), ("n + 1", None)],
    ids=["known", "not", "more"],
)
async def test_a_name_that_is_not_evaluated_is_read_among_the_variables(expression, value):
    adapter = configured_adapter.SectionAdapter(
        "x", AdapterSettings(command=("x",), languages=("x",))
    )
    read = adapter.evaluate_expression
    connection: Any = VariablesOnly()
    found = await read(connection, expression, Frame(0, "f", 7), EvaluationPurpose.PRINT)
    assert (found.value if found is not None else None) == value


async def test_an_adapter_that_has_died_is_no_reason_to_read_the_variables():
    adapter = configured_adapter.SectionAdapter(
        "x", AdapterSettings(command=("x",), languages=("x",))
    )
    connection: Any = VariablesOnly(ErrorCode.ADAPTER_DIED)
    with pytest.raises(DebuggerError, match="not supported"):
        await adapter.evaluate_expression(
            connection, "n", Frame(0, "f", 7), EvaluationPurpose.PRINT
        )
