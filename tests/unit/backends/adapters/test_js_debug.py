"""Requests to js-debug, and its answers parsed."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.adapters.js_debug import js_adapter as js_debug
from debugger.backends.adapters.js_debug import js_attach as js_debug_attach
from debugger.backends.adapters.js_debug import js_values as js_debug_texts
from debugger.backends.adapters.js_debug import js_values as js_debug_values
from debugger.backends.adapters.js_debug.js_breakpoints import (
    JsBreakpointSender,
    log_template,
    stop_condition,
)
from debugger.backends.base import AttachTarget, ConditionError, LaunchTarget, OutputPrinted
from debugger.backends.dap import dap_convert, dap_transport
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterSearch
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import ExceptionDetails, ScopeKind, Variable
from debugger.system.node_options import split_options

ADAPTER = js_debug.JsDebugAdapter()
DELEGATING = ADAPTER.delegated_launch


def wanted_breakpoint(number: int = 7, line: int = 1, **spec: Any) -> Breakpoint:
    at = BreakpointSpec(file=__file__, line=line, **spec)
    return Breakpoint(id=number, spec=at, at=at)


@pytest.mark.parametrize(
    ("text", "written", "values"),
    [
        ("plain 100%", "plain 100%%", 0),
        ("n {n} of {m}", "n %O of %O", 2),
        ("{({a: 1, b: '}'})}", "%O", 1),
        ("{`${x}`}!", "%O!", 1),
        ("empty {} and open {x", "empty {} and open {x", 0),
    ],
)
def test_a_logpoints_text_becomes_a_format_and_its_expressions(
    text: str, written: str, values: int
):
    told, expressions = log_template(text)
    assert (told, len(expressions)) == (written, values)


def test_a_breakpoint_without_a_condition_has_none():
    assert stop_condition(wanted_breakpoint()) is None


@pytest.mark.parametrize(
    ("spec", "passes", "stops", "said"),
    [
        ({"condition": "n > 1"}, 4, [2, 3], []),
        ({"condition": "n > 1 // late"}, 3, [2], []),
        ({"hit_count": 3}, 4, [2, 3], []),
        # What the program itself calls so is meant.
        ({"condition": "s > 1", "log": "{s} {v} {e}"}, 3, [], ["[[log 7]] %O %O %O:2:6:7"]),
        ({"condition": "n % 2", "hit_count": 2}, 6, [3, 5], []),
        ({"log": "n {n}"}, 2, [], ["[[log 7]] n %O:0", "[[log 7]] n %O:1"]),
        ({"condition": "n", "log": "100% {n}"}, 2, [], ["[[log 7]] 100%% %O:1"]),
        (
            {"log": "{nosuch}"},
            1,
            [],
            ["[[log 7]] %O:<ReferenceError: nosuch is not defined>"],
        ),
        (
            {"condition": "nosuch"},
            1,
            [],
            ["[[failed 7]] %s:nosuch: nosuch is not defined"],
        ),
    ],
)
@pytest.mark.adapter("js-debug")
def test_a_condition_counts_logs_and_stops_as_it_is_asked_to(
    spec: dict[str, Any], passes: int, stops: list[int], said: list[str]
):
    text = stop_condition(wanted_breakpoint(**spec))
    program = (
        "require('inspector').console.log=(...a)=>console.log('said '+a.join(':'));"
        f"const v=6,e=7;for(let n=0,s=0;n<{passes};n++,s++)if({text})console.log('stop '+n);"
    )
    words = ["node", "-e", program]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
    wanted = [f"said {one}" for one in said] + [f"stop {one}" for one in stops]
    assert ran.stdout.splitlines() == wanted
    assert ran.stderr == ""


class _Adapter:
    """Plays js-debug: numbers breakpoints, and answers a list that is the same with nothing."""

    launched = None

    def __init__(self) -> None:
        self.lists: list[list[dict[str, Any]]] = []
        self._last: dict[str, list[dict[str, Any]]] = {}
        self._next = 0

    async def send_request(self, command: str, arguments: dict[str, Any], body: type[Any]) -> Any:
        assert command == "setBreakpoints"
        wanted, key = arguments["breakpoints"], str(arguments["source"])
        self.lists.append(wanted)
        if self._last.get(key, []) == wanted:
            return body(breakpoints=())
        self._last[key] = wanted
        self._next += len(wanted)
        first = self._next - len(wanted)
        answers = [
            dap.DapBreakpoint(id=first + at, verified=True, line=one["line"])
            for at, one in enumerate(wanted)
        ]
        return body(breakpoints=tuple(answers))


async def test_a_list_that_is_the_same_is_not_sent_again_and_keeps_its_answers():
    adapter: Any = _Adapter()
    lines = JsBreakpointSender(adapter)
    first = await lines.send_file(__file__, [wanted_breakpoint(1, 1), wanted_breakpoint(2, 3)])
    again = await lines.send_file(__file__, [wanted_breakpoint(1, 1), wanted_breakpoint(2, 3)])
    assert [one.id for one in first] == [one.id for one in again] == [0, 1]
    assert len(adapter.lists) == 1
    assert [one.id for one in await lines.send_file(__file__, [wanted_breakpoint(2, 3)])] == [2]


async def test_a_line_past_the_end_is_not_sent_and_is_unbound():
    adapter: Any = _Adapter()
    answers = await JsBreakpointSender(adapter).send_file(
        __file__, [wanted_breakpoint(1, 100_000), wanted_breakpoint(2, 3)]
    )
    assert [(one.verified, one.line) for one in answers] == [(False, None), (True, 3)]
    assert [one["line"] for one in adapter.lists[0]] == [3]


async def test_later_breakpoints_get_other_numbers_than_those_before_a_launch():
    adapter: Any = _Adapter()
    lines = JsBreakpointSender(adapter)
    await lines.send_file(__file__, [wanted_breakpoint(1, 1), wanted_breakpoint(2, 3)])
    adapter._next = 0  # the launch: js-debug counts from 0 on
    await lines.keep_numbers()
    (later,) = await lines.send_file(__file__ + "x", [wanted_breakpoint(3, 5)])
    assert later.id is not None
    assert later.id > 1


@pytest.mark.parametrize(
    ("configuration", "pid"),
    [
        ({"name": "m.js [4601]", "__pendingTargetId": "433be5c53c44ff70"}, 4601),
        ({"name": "[4601]", "__pendingTargetId": "433be5c53c44ff70"}, 4601),
        ({"name": "Remote Process [0]", "__pendingTargetId": "433be5c5"}, None),
        ({"name": "[worker 1]", "__pendingTargetId": "433be5c53c44ff70-1"}, None),
        ({"name": "odd [12]", "__pendingTargetId": "433be5c53c44ff70-2"}, None),
        ({}, None),
    ],
)
def test_the_process_of_a_session_is_read_from_its_name_if_it_has_one(
    configuration: dict[str, Any], pid: int | None
):
    assert DELEGATING.read_child_pid(configuration) == pid


@pytest.mark.parametrize("loader", ["/opt/js-debug/bootloader.js", '"/opt/js debug/bootloader.js"'])
def test_our_own_file_is_loaded_after_js_debugs_and_before_the_users(loader: str):
    asked = {"NODE_OPTIONS": f" --require {loader}  --require ./mine.js", "OTHER": None}
    given = DELEGATING.program_environment(asked)
    options = given["NODE_OPTIONS"] or ""
    words = [loader, "begin.cjs", "./mine.js"]
    places = [options.index(word) for word in words]
    assert places == sorted(places)
    assert options.count('"') % 2 == 0
    assert given["OTHER"] is None


def test_what_a_debuggers_presence_makes_node_write_is_left_out():
    text = "Debugger attached.\nreal trouble\nWaiting for the debugger to disconnect...\n"
    assert DELEGATING.remove_debugger_output(OutputStream.STDERR, text) == "real trouble\n"
    assert DELEGATING.remove_debugger_output(OutputStream.STDOUT, text) == text


@pytest.mark.parametrize(
    ("category", "output", "told"),
    [
        ("stdout", "[[failed 3]] n: no n\n", ConditionError(3, "n: no n")),
        ("stderr", "oops\n", OutputPrinted(OutputStream.STDERR, "oops\n")),
        ("stderr", "WARNING: Processing source-maps …", OutputStream.CONSOLE),
        ("telemetry", "js-debug/launch", None),
    ],
)
def test_output_is_the_programs_or_js_debugs(category: str, output: str, told: object):
    found = ADAPTER.parse_output(dap.OutputBody(category=category, output=output))
    if isinstance(told, OutputStream):
        told = OutputPrinted(told, output)
    assert found == told


@pytest.mark.parametrize(
    ("title", "trace", "kind", "message"),
    [
        ("TypeError: a: b", "  at f (x.js:1:2)", "TypeError", "a: b"),
        ("Error", "  at f (x.js:1:2)", "Error", ""),
        ("Error: two\nlines", "  at f (x.js:1:2)", "Error", "two\nlines"),
        ("/x.js:4\n\n\n\nSyntaxError: end", "", "SyntaxError", "end (/x.js:4)"),
        ("a string: x", "", "thrown value", "a string: x"),
        ("two\n\n\nError: x", "", "thrown value", "two\n\n\nError: x"),
        ("undefined", "", "thrown value", "undefined"),
    ],
)
def test_an_exceptions_type_and_message_are_told_apart(
    title: str, trace: str, kind: str, message: str
):
    found = ADAPTER.adjust_exception(ExceptionDetails(title, "", trace=trace))
    assert (found.type, found.message) == (kind, message)


def test_nodes_own_frames_are_left_out_of_a_trace():
    trace = "  at f (/x.js:1:2)\n    at node:internal/a:1:2\n    at g (node:internal/b:3:4)"
    found = ADAPTER.adjust_exception(ExceptionDetails("Error: x", "", trace=trace))
    assert found.trace == "  at f (/x.js:1:2)"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("Uncaught ReferenceError: x is not defined", "ReferenceError: x is not defined"),
        (
            "Uncaught ReferenceError ReferenceError: x is not defined\n    at eval (repl:1:1)\n",
            "ReferenceError: x is not defined",
        ),
        (
            "Uncaught SyntaxError: await can not be used when evaluating code while paused",
            "await cannot be used while the program stands still: nothing would fulfil it",
        ),
    ],
)
def test_what_is_wrong_with_an_expression_is_said_once(said: str, problem: str):
    assert ADAPTER.shorten_error(said) == problem


def closures(scopes: list[tuple[str, dap.DapSource | None, int, int]]) -> list[bool]:
    bodies = [
        dap.DapScope(name=name, variables_reference=1, source=origin, line=line, column=column)
        for name, origin, line, column in scopes
    ]
    found = [
        one for one in js_debug_values.convert_scopes(bodies) if one.name.startswith("Closure")
    ]
    return [one.kind is ScopeKind.LOCALS for one in found]


def test_a_closure_is_local_unless_it_is_the_modules():
    names = ["Block: f", "Local: f", "Closure (outer)", "Closure", "Global"]
    assert closures([(name, None, 1, 1) for name in names]) == [True, False]


def test_a_closure_is_local_where_its_function_is_in_the_source(tmp_path: Path):
    file = tmp_path / "a.ts"
    file.write_text("run((a) => {\n  run((b) => {\n    run(a, b);\n  });\n});\n")
    here = dap.DapSource(path=str(file))
    made = dap.DapSource(path=str(file), source_reference=7)
    inner, outer = ("Local", here, 2, 7), ("Local", here, 1, 5)
    assert closures([inner, ("Closure", here, 1, 5)]) == [True]
    assert closures([inner, ("Closure", here, 1, 5), ("Closure", here, 1, 1)]) == [True, False]
    # A bundler's functions around a module have no place in its source.
    bundled = [("Closure (./a.ts)", made, 3, 1), ("Closure", made, 1, 1)]
    assert closures([outer, *bundled]) == [False, False]
    assert closures([inner, ("Closure", here, 1, 5), *bundled]) == [True, False, False]
    bundle = tmp_path / "bundle.js"
    bundle.write_text("(() => { // what a bundler has put around all modules\n})();\n")
    around = ("Closure", dap.DapSource(path=str(bundle)), 1, 8)
    assert closures([inner, ("Closure", here, 1, 5), around]) == [True, False]


def test_options_that_the_environment_may_not_hold_are_put_on_the_command_line(
    require_tool: Callable[[str], str],
):
    node = require_tool("node")
    env = {"PATH": os.environ["PATH"]}
    usual = '--require "/a b/x.cjs" --max-old-space-size=100'
    assert split_options(usual, node, env) == (usual, [])
    own = r'"--test-name-pattern=a \"b\" c$" --stack_size=900'
    found = split_options(f"{usual} --expose-internals {own}", node, env)
    assert found[0] == usual
    assert found[1] == ["--expose-internals", '--test-name-pattern=a "b" c$', "--stack_size=900"]


STACK = "\n    at make (/tmp/a b/v.js:1:2)\n    at async node:internal/main:28:49"
CUT = "\\n    at f (/tmp/node/vals…3)\\n    at Object.<anonymous> (/tmp/v…"
EVALED = "\n    at eval (eval at f (a.js:1:1), <anonymous>:1:1)\n    at Promise.all (index 0)"


@pytest.mark.parametrize(
    ("preview", "text"),
    [
        (f"Error: no{STACK}", "Error: no"),
        (f"Error: no{EVALED}", "Error: no"),
        (f"Error: ü, 日本{STACK} {{stack: 'Error: x', message: 'x'}}", "Error: ü, 日本"),
        (
            f"Error: no{STACK} {{code: 'E', stack: 'Error: no', message: 'no'}}",
            "Error: no {code: 'E'}",
        ),
        (f"(2) [Error: one{CUT}, TypeError: two{CUT}]", "(2) [Error: one, TypeError: two]"),
        (f"Error: no{STACK} {{cause: Error: in{CUT}}}", "Error: no {cause: Error: in}"),
        (f"{{stack: 'mine', a: Error: no{CUT}, b: 1}}", "{stack: 'mine', a: Error: no, b: 1}"),
        (
            "Data(1) [7, buffer: ArrayBuffer(8), byteLength: 1, byteOffset: 2, length: 1, a: 1]",
            "Data(1) [7, a: 1]",
        ),
        ("Map(1) {size: 1, a => 1}", "Map(1) {a => 1}"),
        ("{size: 1, b: 2}", "{size: 1, b: 2}"),
    ],
)
def test_a_preview_is_written_without_its_noise(preview: str, text: str):
    assert js_debug_texts.plain_preview(preview) == text


def test_a_preview_is_completed_with_what_elements_and_fields_hold():
    elements = [Variable("0", "{a: 1}", handle=1), Variable("2", "null")]
    assert (
        js_debug_texts.array_preview("(9) [{…}, …, null]", elements, 3)
        == "(9) [{a: 1}, <empty>, null, …]"
    )
    fields = [Variable("a.b", "(1) [{…}]", handle=2), Variable("c", "1")]
    assert (
        js_debug_texts.object_preview("T {c: 1, a.b: Array(1)}", fields)
        == "T {c: 1, a.b: (1) [{…}]}"
    )
    assert js_debug_texts.is_abbreviated("(2) [User, 1]")
    assert not js_debug_texts.is_abbreviated("(2) [NaN, true]")
    assert js_debug_texts.collection_preview("Set(2) {1, 1}", ["1", "'1'"]) == "Set(2) {1, '1'}"
    # Without its entries a collection's strings cannot be told from numbers.
    assert js_debug_texts.collection_preview("Set(2) {1, 1}", []) == "Set(2)"


def test_a_getter_is_no_function_and_those_of_v8_are_left_out():
    lazy = dap.DapVariableHint(lazy=True)
    own = dap.DapVariable(name="a", value="ƒ a() { return 1; }", presentation_hint=lazy)
    native = dap.DapVariable(name="length", value="ƒ length()", presentation_hint=lazy)
    method = dap.DapVariable(name="run", value="ƒ run() { return 1; }", type="function")
    found = [dap_convert.to_variable(one) for one in (own, native, method)]
    assert [js_debug_values.is_native_accessor(one) for one in found] == [False, True, False]
    assert [one.type for one in found] == ["accessor", "accessor", "function"]


def _install(folder: Path, name: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    return file


@pytest.mark.parametrize(
    "place",
    [
        "data/debugger-cli/adapters/js-debug/vsDebugServer.cjs",
        "data/debugger-cli/adapters/js-debug/js-debug/src/dapDebugServer.js",
        ".vscode/extensions/ms-vscode.js-debug-1.112.0/src/dapDebugServer.js",
    ],
)
def test_js_debug_is_found_where_it_is_put_with_the_callers_node(tmp_path: Path, place: str):
    server = _install(tmp_path, place)
    (server.parent / "manifest.json").write_text('{"version": "v1.112.0"}')
    node = _install(tmp_path, "bin/node")
    env = {
        "PATH": str(node.parent),
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    assert ADAPTER.find_installation(AdapterSearch(env)) is None  # that node cannot be run
    node.chmod(0o755)
    found = ADAPTER.find_installation(AdapterSearch(env))
    assert found is not None
    assert found.argv[:2] == (str(node), str(server))
    assert found.version == "1.112.0"
    assert ADAPTER.find_installation(AdapterSearch(env, path=str(tmp_path / "elsewhere"))) is None
    own = ADAPTER.find_installation(
        AdapterSearch({**env, "HOME": "/nowhere", "XDG_DATA_HOME": "/"}, path=str(server))
    )
    assert own is not None
    assert own.argv == found.argv


def test_a_process_that_is_no_node_is_not_sent_a_signal():
    target = AttachTarget(pid=os.getpid(), cwd="/", env={})
    with pytest.raises(DebuggerError, match="is no Node") as raised:
        js_debug_attach.attach_arguments(target)
    assert raised.value.code is ErrorCode.LAUNCH_FAILED


def test_an_inspector_is_reached_where_it_is_said_to_be():
    target = AttachTarget(pid=None, cwd="/", env={}, connect=("10.0.0.1", 9333))
    given = js_debug_attach.attach_arguments(target)
    assert (given["request"], given["address"], given["port"]) == ("attach", "10.0.0.1", 9333)


def test_a_process_is_made_to_send_at_once_on_its_local_connections():
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
        with near, far:
            level, option = socket.IPPROTO_TCP, socket.TCP_NODELAY
            assert not near.getsockopt(level, option)
            if not dap_transport.disable_nagle(os.getpid()):
                pytest.skip("this system does not lend sockets")
            assert near.getsockopt(level, option)
            assert far.getsockopt(level, option)


def test_a_process_that_is_gone_is_no_matter():
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert dap_transport.disable_nagle(gone.pid) == 0
    assert dap_transport.disable_nagle(0) == 0


@pytest.mark.parametrize(
    ("program", "options", "is_left_to_the_adapter"),
    [
        ("main.js", "", False),
        ("main.ts", "--import tsx", False),
        ("main.ts", "--enable-source-maps -r ts-node/register", False),
        ("main.ts", "", True),
        ("main.ts", "--enable-source-maps", True),
    ],
)
def test_what_was_typed_is_run_and_no_compiled_file_in_its_place(
    monkeypatch: pytest.MonkeyPatch, program: str, options: str, is_left_to_the_adapter: bool
) -> None:
    monkeypatch.setattr(js_debug, "_strips_types", lambda _: False)
    launch = LaunchTarget(program, cwd="/", env={"NODE_OPTIONS": options}, args=("a",))
    words = js_debug._words_to_run(launch)
    if is_left_to_the_adapter:
        assert words == {"program": program, "args": ["a"]}
    else:
        assert words == {"args": [program, "a"]}


def test_a_compiled_file_that_runs_in_place_of_a_source_is_named_and_told_to_be_old(
    tmp_path: Path,
) -> None:
    for name, time in [("out.js", 1), ("main.ts", 2)]:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time, time))
    program = str(tmp_path / "main.ts")
    launch = LaunchTarget(program, cwd=str(tmp_path), env={})
    assert js_debug.NodeLaunch().note_replaced_program(launch, ["node", program]) is None
    said = js_debug.NodeLaunch().note_replaced_program(launch, ["node", "./out.js"]) or ""
    assert said.startswith("out.js runs: its source map names main.ts")
    assert said.endswith("it is older than main.ts: compile it again")


def test_the_command_line_names_the_inspectors_port_before_the_environment(monkeypatch):
    monkeypatch.setattr(js_debug_attach, "command_line", lambda _pid: ["node", "--inspect=2222"])
    monkeypatch.setattr(js_debug_attach, "_node_options", lambda _pid: ["--inspect=1111"])
    assert js_debug_attach._requested_port(7) == 2222
