"""Every request that is sent fits the protocol's own schema."""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from adapter_specs import SPECS
from adapter_specs.adapter_spec import AdapterSpec
from debugger.backends import abilities, select_backend
from debugger.backends.base import ChildStarted, LaunchTarget
from debugger.backends.dap.conversation import AdapterConversation
from debugger.backends.dap.debug_adapter import AdapterLocation, DebugAdapter
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import EvaluationPurpose, ExitedProgram, Frame, ResumeKind, Stopped
from driven_backend import DrivenBackend, drive_adapter, launch_target
from fakes import fake_adapter

SCHEMA = json.loads(Path(__file__).with_name("debugAdapterProtocol.json").read_text())
# A request of debugpy's own, outside the protocol.
_FOREIGN = {"setDebuggerProperty"}
# Requests of our own, where our code runs inside the adapter.
_OURS = "debugger"
Loop = Callable[[], tuple[LaunchTarget, str, int, str]]


def _definition(message: Mapping[str, Any]) -> str:
    name = message["command"][0].upper() + message["command"][1:]
    if message["type"] == "response":
        return f"{name}Response" if message["success"] else "ErrorResponse"
    return f"{name}Request"


def _check(message: Mapping[str, Any]) -> None:
    command = message["command"]
    is_foreign = command in _FOREIGN or command.startswith(_OURS)
    name = "Request" if is_foreign else _definition(message)
    assert name in SCHEMA["definitions"], message
    _validator(name).validate(message)


@functools.cache
def _validator(name: str) -> Any:
    # `jsonschema.validate` would check the whole schema again for each message.
    kind = jsonschema.validators.validator_for(SCHEMA)
    return kind({**SCHEMA, "$ref": f"#/definitions/{name}"})


def test_the_schema_is_one():
    jsonschema.validators.validator_for(SCHEMA).check_schema(SCHEMA)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Keep every message that goes to an adapter, and see that each conversation counts them."""
    messages: list[dict[str, Any]] = []
    counts: Counter[int] = Counter()
    write = AdapterConversation._write_message

    def keep(self: AdapterConversation, body: bytes) -> None:
        messages.append(json.loads(body))
        counts[id(self)] += 1
        assert messages[-1]["seq"] == counts[id(self)]
        write(self, body)

    monkeypatch.setattr(AdapterConversation, "_write_message", keep)
    return messages


async def _try(call: Awaitable[object]) -> None:
    try:
        await call
    except DebuggerError:
        return


def has_ability(one: DrivenBackend, kind: type[Any]) -> Any:
    with suppress(DebuggerError):
        return one.backend.find_ability(kind)


async def _look_more(one: DrivenBackend, frame: Frame, name: str) -> None:
    """Call what only some backends can do and nothing moves, whether it succeeds or not."""
    address = int(frame.address or "0x1000", 16)
    if memory := has_ability(one, abilities.MemoryAbility):
        await _try(memory.read_memory(address, 4))
        await _try(memory.write_memory(8, b"\x2a"))
    if registers := has_ability(one, abilities.RegisterAbility):
        await _try(registers.read_registers(frame))
    if disassembly := has_ability(one, abilities.DisassemblyAbility):
        await _try(disassembly.read_instructions(address, 2))
    if modules := has_ability(one, abilities.ModuleAbility):
        await _try(modules.list_modules())
    if sources := has_ability(one, abilities.LoadedSourceAbility):
        await _try(sources.list_loaded_sources())
    if targets := has_ability(one, abilities.StepTargetAbility):
        await _try(targets.list_step_targets(frame))
    if addresses := has_ability(one, abilities.InstructionBreakpointAbility):
        await _try(one.add(BreakpointSpec(address=hex(address), condition=f"{name} == 2")))
        await _try(addresses.set_instruction_breakpoints([]))
    if exceptions := has_ability(one, abilities.ExceptionAbility):
        await _try(one.add(*(BreakpointSpec(catch=word) for word in exceptions.catch_filters)))
        await _try(exceptions.set_catches([]))
    if watchpoints := has_ability(one, abilities.WatchpointAbility):
        with suppress(DebuggerError):
            await watchpoints.remove_watchpoint(await one.watch(name, frame))


async def _move_more(one: DrivenBackend, stop: Stopped, file: str, line: int) -> None:
    """Move as only some backends can."""
    thread = stop.thread
    assert thread is not None
    if jump := has_ability(one, abilities.JumpAbility):
        with suppress(DebuggerError):
            await jump.jump_to(file, line, thread)
            if jump.is_stop_reported:
                await one.seen.next(Stopped)
    if steps := has_ability(one, abilities.InstructionStepAbility):
        with suppress(DebuggerError):  # CodeLLDB may say that its resume timed out
            await steps.step_instruction(ResumeKind.NEXT, thread)
            await one.seen.next(Stopped)
    if alone := has_ability(one, abilities.SingleThreadAbility):
        await alone.resume_single_thread(ResumeKind.NEXT, thread)
        await one.seen.next(Stopped)


async def _use_everything(
    one: DrivenBackend, start: LaunchTarget, file: str, line: int, name: str
) -> None:
    """Call all that a backend can do, whether it succeeds or not."""
    backend = one.backend
    await backend.start(start)
    await one.add(BreakpointSpec(function="no_such_function"))
    await one.add(
        BreakpointSpec(file=file, line=line, condition=f"{name} >= 0", hit_count=1),
        BreakpointSpec(file=file, line=line + 1, log=f"{{{name}}}", condition=f"{name} == 1"),
    )
    await backend.run_program()
    stop = await one.seen.next(Stopped)
    assert stop.thread is not None
    await backend.list_threads()
    frame = (await backend.read_stack(stop.thread, start=0, levels=5)).frames[0]
    for scope in await backend.read_scopes(frame):
        for value in (await backend.read_variables(scope.handle))[:20]:
            if value.handle:
                await backend.read_variables(value.handle, start=1, count=2)
                await backend.count_elements(value.handle)
    for purpose in EvaluationPurpose:
        await _try(backend.evaluate(name, frame, purpose))
    await _try(backend.run_raw("help", None))
    await _try(backend.assign_value(name, "1", frame))
    await _try(backend.read_exception(stop))
    await _try(backend.read_source(frame))
    await _look_more(one, frame, name)
    await _move_more(one, stop, file, line)
    for how in (ResumeKind.STEP, ResumeKind.NEXT, ResumeKind.FINISH):
        await backend.resume(how, stop.thread)
        await one.seen.next(Stopped)
    await _try(backend.pause())
    await backend.set_breakpoints(file, [])
    await backend.set_function_breakpoints([])
    await _to_the_end(one, stop.thread)


async def _to_the_end(one: DrivenBackend, thread: int) -> None:
    """Run to the end; a pause that came while the program stood may be kept for later.

    gdb 16 stops by it again, CodeLLDB answers that the resume timed out.
    """
    for _ in range(3):
        with suppress(DebuggerError):
            await one.backend.resume(ResumeKind.CONTINUE, thread)
        if isinstance(await one.seen.next((Stopped, ExitedProgram)), ExitedProgram):
            return
    raise AssertionError(f"it stops again: {one.seen}")


def _fake_loop() -> tuple[LaunchTarget, str, int, str]:
    return launch_target("/imaginary/main.c", "5"), "/imaginary/main.c", 4, "n"


def _loop_of(adapter_spec: AdapterSpec) -> Loop:
    return lambda: (
        adapter_spec.loop(),
        adapter_spec.file,
        adapter_spec.stop_line,
        adapter_spec.variable,
    )


_FAKE = fake_adapter.FAKE_ADAPTER
CASES = [
    pytest.param(_FAKE, (), _fake_loop, id="fake"),
    pytest.param(_FAKE, ("run-in-terminal",), _fake_loop, id="run-in-terminal"),
    pytest.param(_FAKE, ("late-capabilities",), _fake_loop, id="late-capabilities"),
    pytest.param(_FAKE, ("thread-id-zero",), _fake_loop, id="thread-id-zero"),
    *(
        pytest.param(
            adapter_spec.debug_adapter,
            (),
            _loop_of(adapter_spec),
            id=adapter_spec.name,
            marks=pytest.mark.adapter(adapter_spec.name),
        )
        for adapter_spec in SPECS
        if adapter_spec.is_real and adapter_spec.backend == "dap"
    ),
]


def find_location(adapter: DebugAdapter, *arguments: str) -> AdapterLocation:
    if adapter is _FAKE:
        return fake_adapter.fake_location(*arguments)
    return select_backend.find_adapter(adapter, os.environ, {})


@pytest.mark.parametrize(("adapter", "quirks", "loop"), CASES)
async def test_whatever_is_sent_fits_the_schema(
    adapter: DebugAdapter,
    quirks: tuple[str, ...],
    loop: Loop,
    runtime_dir: Path,
    sent: list[dict[str, Any]],
):
    found = find_location(adapter, *fake_adapter.quirk_words(*quirks))
    async with drive_adapter(adapter, found, runtime_dir / "scratch") as one:
        await _use_everything(one, *loop())
    commands = {message["command"] for message in sent}
    # The connection of a program that is its own adapter ends with the program.
    is_program = adapter.server is not None and adapter.server.is_program
    last = set() if is_program else {"disconnect"}
    assert {"initialize", "launch", "setBreakpoints", "evaluate", *last} <= commands
    assert ("runInTerminal" in commands) >= ("run-in-terminal" in quirks)
    for message in sent:
        _check(message)


async def test_what_is_sent_for_a_child_and_for_an_attach_fits_the_schema(
    runtime_dir: Path, sent: list[dict[str, Any]]
):
    found = fake_adapter.fake_location(*fake_adapter.quirk_words("start-debugging"))
    async with drive_adapter(_FAKE, found, runtime_dir / "scratch") as one:
        await one.backend.start(launch_target("/imaginary/main.c"))
        await one.backend.run_program()
        child = (await one.seen.next(ChildStarted)).backend
        await child.connect_child()
        await child.run_program()
    assert {"startDebugging", "attach"} <= {message["command"] for message in sent}
    for message in sent:
        _check(message)


async def test_the_adapter_receives_what_was_sent(
    runtime_dir: Path, tmp_path: Path, sent: list[dict[str, Any]]
):
    log = tmp_path / "log"
    found = fake_adapter.fake_location("--log", str(log))
    async with drive_adapter(_FAKE, found, runtime_dir / "scratch") as one:
        await _use_everything(one, *_fake_loop())
    received = [json.loads(line) for line in log.read_text().splitlines()]
    assert received == [message for message in sent if message["type"] == "request"]


def test_the_check_itself_can_fail():
    with pytest.raises(jsonschema.ValidationError):
        _check({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": "1"}})
