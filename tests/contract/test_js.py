"""js-debug: workers, modules, source maps, waiting for an attach."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapter_specs.adapter_spec import AdapterSpec, marked_line
from adapter_specs.js_debug import SPEC
from debuggees import find_marker, find_source
from debugger.backends.abilities import ReturnValueAbility
from debugger.backends.adapters.js_debug import js_attach
from debugger.backends.base import (
    AttachTarget,
    BackendEnded,
    BreakpointChanged,
    ChildStarted,
    ConditionError,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
)
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExitedProgram,
    ResumeKind,
    Stopped,
    StopReason,
)
from driven_backend import DrivenBackend, launch_target
from running_programs import find_free_port

pytestmark = pytest.mark.adapter("js-debug")
Drive = Callable[[AdapterSpec], Any]


async def test_a_worker_is_a_session_of_its_own_in_the_same_process(drive_backend: Drive):
    async with drive_backend(SPEC) as one:
        await one.backend.start(launch_target(find_source("threads.js")))
        await one.backend.run_program()
        appeared = await one.seen.next(ChildStarted)
        assert appeared.pid is None
        worker: Any = appeared.backend
        await worker.connect_child()
        other = DrivenBackend(worker, one.seen, one.tasks)
        await other.add(marked_line("threads.js", "work"))
        await worker.run_program()
        stop = await one.seen.next(Stopped)
        assert await other.value(stop, "doubled") == "42"
        # Numbers that were given before the worker's launch are not given again.
        ids = [event.bound.backend_id for event in one.seen if isinstance(event, BreakpointChanged)]
        (later,) = await other.add(BreakpointSpec(file=str(find_source("threads.js")), line=17))
        assert later.backend_id not in {*ids, *stop.hits}
        await other.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram()
        await one.seen.until_printed("worker ended with 0\n")


async def test_typescript_is_stopped_in_by_its_source_map(drive_backend: Drive):
    file = str(find_source("shop.ts"))
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(
            launch_target(find_source("shop/shop.js")), marked_line("shop.ts", "cost")
        )
        frames = await one.frames(stop)
        shown = [(frame.function, frame.file, frame.line) for frame in frames[:2]]
        assert shown[0] == ("Basket.total", file, find_marker("shop.ts", "cost"))
        assert shown[1][:2] == ("main", file)
        assert await one.value(stop, "item.price") == "3"
        (bound,) = await one.add(BreakpointSpec(function="later"))
        assert (bound.file, bound.verified) == (file, True)


async def test_values_are_written_with_what_they_hold(drive_backend: Drive):
    texts = {
        "names": "Map(2) {'1' => 1, 1 => {deep: Array(1)}}",
        "tags": "Set(2) {'1', 1}",
        "rows": "(4) [{a: 1}, (2) [1, 2], <empty>, null]",
        "order": "{basket: Basket {#items: Array(1)}, rows: (1) [{…}]}",
        "bytes": "Buffer(3) [104, 195, 169]",
        "outer": "Error: outer, ü {code: 'E', cause: TypeError: inner}",
        "many": "AggregateError: many {errors: (2) [Error: one, TypeError: two]}",
        "done": "Promise {[[PromiseState]]: 'fulfilled', [[PromiseResult]]: Array(1)}",
    }
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(
            launch_target(find_source("holds.js")), marked_line("holds.js", "ready")
        )
        variables = await one.locals(await one.frame(stop))
        assert {name: variables[name].value for name in texts} == texts
        for name, text in texts.items():
            assert await one.value(stop, name) == text
        # An expression that may do something is not evaluated again.
        assert await one.value(stop, "new Set(['1', 1])") == 'Set(2) {"1", 1}'
        assert await one.value(stop, "[outer]") == "(1) [Error: outer, ü]"


async def test_a_module_is_bound_when_it_is_loaded_and_its_await_is_gone_through(
    drive_backend: Drive, tmp_path: Path
):
    file = tmp_path / "main.mjs"
    file.write_text(
        "import fs from 'node:fs';\n"
        "function twice(n) {\n"
        "  return n * 2;\n"
        "}\n"
        "const four = await Promise.resolve(twice(2));\n"
        "console.log(four, fs.existsSync('/'));\n"
    )
    async with drive_backend(SPEC) as one:
        await one.backend.start(launch_target(file))
        await one.add(
            BreakpointSpec(file=str(file), line=3), BreakpointSpec(file=str(file), line=6)
        )
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        assert (await one.frame(stop)).function == "twice"
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert await one.value(stop, "four") == "4"


@pytest.mark.parametrize(
    ("args", "frames"), [((), ["total", "<anonymous>"]), (("later",), ["total", "<anonymous>"])]
)
async def test_an_error_that_nobody_catches_stops_where_it_is_thrown(
    drive_backend: Drive, args: tuple[str, ...], frames: list[str]
):
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(launch_target(find_source("uncaught.js"), *args))
        assert stop.reason is StopReason.EXCEPTION
        details = await one.backend.read_exception(stop)
        assert (details.type, details.message) == ("TypeError", "no price for quince")
        shown = await one.frames(stop)
        assert [frame.function for frame in shown[:2]] == frames
        assert shown[0].line == find_marker("uncaught.js", "outer")
        assert all(frame.file == str(find_source("uncaught.js")) for frame in shown[:2])
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=1)
        assert "Debugger" not in one.seen.printed(OutputStream.STDERR)


@pytest.mark.parametrize("line", [1, 4])
async def test_the_first_statement_stops_for_a_breakpoint_and_as_the_entry(
    drive_backend: Drive, tmp_path: Path, line: int
):
    lines = ["function never() {", "  return 1;", "}", "const here = 2;", "console.log(here);"]
    file = tmp_path / "first.js"
    file.write_text("\n".join(lines[3:] if line == 1 else lines))
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(launch_target(file), BreakpointSpec(file=str(file), line=line))
        assert (stop.reason, (await one.frame(stop)).line) == (StopReason.BREAKPOINT, line)
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(launch_target(file, stop_on_entry=True))
        assert (await one.frame(stop)).line == line


async def test_a_condition_a_count_and_a_logpoint_of_one_breakpoint_all_hold(drive_backend: Drive):
    line = find_marker("loop.js", "step")
    spec = BreakpointSpec(
        file=SPEC.file, line=line, condition="i > 1", hit_count=2, log="{i}: 100% {nosuch}"
    )
    async with drive_backend(SPEC) as one:
        await one.backend.start(SPEC.loop())
        await one.add(spec)
        await one.backend.run_program()
        await one.seen.next(BackendEnded)
        logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
        why = "<ReferenceError: nosuch is not defined>"
        assert logged == [f"{i}: 100% {why}" for i in (3, 4, 5)]
        assert one.seen.printed(OutputStream.STDOUT).startswith("step 1\nstep 2\nstep 3\n")


async def test_a_condition_that_is_no_expression_is_refused_with_what_is_wrong(
    drive_backend: Drive,
):
    async with drive_backend(SPEC) as one:
        await one.backend.start(SPEC.loop())
        (bound,) = await one.add(
            BreakpointSpec(file=SPEC.file, line=SPEC.stop_line, condition="i ===")
        )
        assert not bound.verified
        assert "SyntaxError" in (bound.why or "")
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=3)
        assert not [event for event in one.seen if isinstance(event, ConditionError)]


async def test_an_undefined_this_is_a_value_of_an_expression(drive_backend: Drive, tmp_path: Path):
    script = tmp_path / "unbound.js"
    script.write_text('"use strict";\nfunction f() {\n  return 1;\n}\nf();\n')
    async with drive_backend(SPEC) as one:
        await one.backend.start(launch_target(script))
        await one.add(BreakpointSpec(file=str(script), line=3))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        frame = (await one.backend.read_stack(stop.thread or 0)).frames[0]
        found = await one.backend.evaluate("this", frame, EvaluationPurpose.PRINT)
        values = await one.backend.complete_values([found, found])
        assert [value.value for value in values] == ["undefined", "undefined"]


async def test_a_name_that_is_not_there_is_not_made_by_an_assignment(drive_backend: Drive):
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(SPEC.loop(), marked_line("loop.js", "deposit"))
        frame = await one.frame(stop)
        with pytest.raises(DebuggerError, match="no_such_name") as raised:
            await one.backend.assign_value("no_such_name", "1", frame)
        assert raised.value.code is ErrorCode.EVALUATION_FAILED
        assert await one.value(stop, "typeof no_such_name") == "'undefined'"
        await one.backend.assign_value("this.balance", "7", frame)
        assert await one.value(stop, "this.balance") == "7"
        # V8 gives the class alone.
        shown = (await one.locals(frame))["this"].value
        assert shown == "Account {owner: 'ada', balance: 7}"
        with pytest.raises(DebuggerError, match="await cannot be used"):
            await one.backend.evaluate("await 1", frame, EvaluationPurpose.EVALUATE)


@pytest.mark.parametrize(
    ("text", "turns", "value"),
    [
        ("function f(n) {\n  if (n) {\n    return n * 2;\n  }\n  return 0;\n}", 0, "4"),
        (
            "const f = (n) => {\n  const all = [n].map((one) => one + 1);\n  return all;\n};",
            0,
            "Array(1) [3]",
        ),
        ("function f(n) {\n  n += 1;\n}", 1, "undefined"),
        ("function f(n) {\n  return n < 1 ? 7 : f(n - 1);\n}", 0, "7"),
        ("function f(n) {\n  throw n;\n}", 0, None),
    ],
    ids=["early", "nested", "none", "recursive", "thrown"],
)
async def test_what_a_function_returns_is_told_when_it_is_left(
    drive_backend: Drive, tmp_path: Path, text: str, turns: int, value: str | None
):
    file = tmp_path / "left.js"
    main = (
        "function main() {\n  try {\n    f(2);\n  } catch (e) {\n    String(e);\n  }\n}\nmain();\n"
    )
    file.write_text(f"{text}\n{main}")
    async with drive_backend(SPEC) as one:
        stop = await one.to_stop(launch_target(file), BreakpointSpec(file=str(file), line=2))
        (kept,) = await one.add(BreakpointSpec(file=str(file), line=2, condition="false"))
        for _ in range(turns):
            await one.go_on(stop, ResumeKind.NEXT)
            stop = await one.seen.next(Stopped)
        await one.go_on(stop, ResumeKind.FINISH)
        stop = await one.seen.next(Stopped)
        frame = await one.frame(stop)
        # Past a throw V8 steps out of the function that catches it, too.
        where = "<anonymous>" if value is None else "main"
        assert (stop.reason, frame.function) == (StopReason.STEP, where)
        told = await one.backend.find_ability(ReturnValueAbility).returned_value(stop, frame)
        assert (told.value if told is not None else None) == value
        # The user's own breakpoints are those that they were before.
        (again,) = await one.add(BreakpointSpec(file=str(file), line=2, condition="false"))
        assert again.backend_id != kept.backend_id
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)


@pytest.mark.parametrize("waits", [False, True], ids=["runs", "waits"])
async def test_a_running_node_is_attached_to_and_left_as_it_is(drive_backend: Drive, waits: bool):
    words = (
        ["node", "--inspect-brk=0", SPEC.file]
        if waits
        else ["node", str(find_source("endless.js"))]
    )
    program = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=PIPE)
    assert program.stdout is not None
    assert program.stderr is not None
    try:
        told = await (program.stderr if waits else program.stdout).readline()
        assert told.startswith(b"Debugger listening" if waits else b"counting")
        async with drive_backend(SPEC) as one:
            target = AttachTarget(
                pid=program.pid, cwd=os.getcwd(), env=dict(os.environ), pause=not waits
            )
            await one.backend.attach(target)
            if waits:
                await one.add(BreakpointSpec(file=SPEC.file, line=SPEC.stop_line))
            await one.backend.run_program()
            stop = await one.seen.next(Stopped)
            if waits:
                await one.go_on(stop)
                stop = await one.seen.next(Stopped)
                assert await one.value(stop, "i") == "1"
            else:
                assert (await one.frame(stop)).function == "count"
            await one.backend.close(kill=False)
        assert program.returncode is None or waits
    finally:
        if program.returncode is None:
            program.kill()
        await program.communicate()


_TICKING = """\
let rounds = 0;
function tick() {
  rounds += 1;
  console.log('round', rounds);
}
if (process.argv[2]) process.stdin.on('data', tick);
else setInterval(tick, 20);
console.log('ready');
"""


async def test_a_program_that_only_waits_for_events_is_paused_and_goes_on(
    drive_backend: Drive, tmp_path: Path
):
    file = tmp_path / "waits.js"
    file.write_text(_TICKING)
    async with drive_backend(SPEC) as one:
        await one.backend.start(launch_target(file, "input"))
        await one.add(BreakpointSpec(file=str(file), line=3))
        await one.backend.run_program()
        await one.seen.until_printed("ready\n")
        await one.backend.pause()
        stop = await one.seen.next(Stopped)
        # What printed "ready" may still be running, and is what the first pause finds then.
        while (await one.frames(stop))[0].function != "idle":
            await one.go_on(stop, ResumeKind.CONTINUE)
            await one.backend.pause()
            stop = await one.seen.next(Stopped)
        assert "Wrap" in await one.value(stop, "waits_for")
        # A step out of it is no stop: the program runs, and stops at the user's breakpoint next.
        await one.go_on(stop, ResumeKind.NEXT)
        await one.backend.write_input(b"go\n")
        stop = await one.seen.next(Stopped)
        assert (await one.frame(stop)).function == "Socket.tick"


async def test_the_inspector_that_was_opened_for_an_attach_is_closed_and_old_logs_are_not_told(
    drive_backend: Drive, tmp_path: Path, wait_until: Callable[..., Any]
):
    file = tmp_path / "ticks.js"
    file.write_text(_TICKING)
    program = await asyncio.create_subprocess_exec(
        "node", f"--inspect-port={find_free_port()}", str(file), stdout=PIPE, stderr=PIPE
    )
    assert program.stdout is not None
    try:
        await program.stdout.readline()
        target = AttachTarget(pid=program.pid, cwd=os.getcwd(), env=dict(os.environ))
        last = 0
        for _ in range(2):
            async with drive_backend(SPEC) as one:
                await one.backend.attach(target)
                await one.backend.run_program()
                for _ in range(2):
                    number = int((await one.seen.next(OutputPrinted)).text.split()[1])
                    assert number > last
                    last = number
                await one.backend.close(kill=False)
            wait_until(
                lambda: not js_attach._listening_ports(program.pid), 10, what="its port to close"
            )
        async with drive_backend(SPEC) as one:
            await one.backend.attach(target)
            await one.backend.run_program()
            await one.backend.close(kill=True)
        assert await program.wait() == -signal.SIGKILL
    finally:
        if program.returncode is None:
            program.kill()
        await program.communicate()


async def test_a_program_that_computes_on_is_said_to_keep_its_inspector(drive_backend: Drive):
    port = find_free_port()
    program = await asyncio.create_subprocess_exec(
        "node", f"--inspect-port={port}", str(find_source("endless.js")), stdout=PIPE, stderr=PIPE
    )
    assert program.stdout is not None
    try:
        await program.stdout.readline()
        for _ in range(2):  # the second time it listens already
            async with drive_backend(SPEC) as one:
                await one.backend.attach(
                    AttachTarget(pid=program.pid, cwd=os.getcwd(), env=dict(os.environ))
                )
                await one.backend.run_program()
                await one.seen.next(ProcessStarted)
                closed = await one.backend.close(kill=False)
                assert f"it still listens at 127.0.0.1:{port}" in closed.notes[0]
    finally:
        program.kill()
        await program.communicate()


def test_a_method_is_named_by_the_class_of_its_object():
    names = {
        "Timeout {.tick": "Timeout.tick",
        "function router (req, res, next) {.handle": "router.handle",
        "class Cart {.make": "Cart.make",
        "function (req) {.handle": "handle",
        "Basket.total": "Basket.total",
        "main::{closure#0}": "main::{closure#0}",
    }
    bodies = [dap.DapStackFrame(id=1, name=one) for one in names]
    assert [one.function for one in dap_convert.to_frames(bodies, 0)] == list(names.values())


@pytest.mark.parametrize(("what", "exceptions"), [("reads", 3), ("throws", 6)])
async def test_a_breakpoint_that_does_not_stop_keeps_no_exception_of_its_line_from_stopping(
    drive_backend: Drive, tmp_path: Path, what: str, exceptions: int
):
    # V8 evaluates a breakpoint's condition again where the line throws.
    file = tmp_path / "thrown.js"
    file.write_text(
        "function reads(o) {\n  return o.a.b;\n}\n"
        "function throws() {\n  throw new Error('always');\n}\n"
        f"for (let n = 0; n < 6; n++) try {{ {what}(n % 2 ? {{}} : {{ a: {{}} }}); }} catch {{}}\n"
    )
    line = 2 if what == "reads" else 5
    async with drive_backend(SPEC) as one:
        await one.backend.start(launch_target(file))
        await one.add(BreakpointSpec(catch="throw"))
        await one.add(BreakpointSpec(file=str(file), line=line, log="passed"))
        await one.backend.run_program()
        for _ in range(exceptions):
            stop = await one.seen.next(Stopped)
            assert stop.reason is StopReason.EXCEPTION
            await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        assert sum(isinstance(event, LogpointPassed) for event in one.seen) == 6
