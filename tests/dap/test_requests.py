"""Does everything that we send fit the protocol's own schema?"""

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

from debugger.backends import abilities, choose
from debugger.backends.base import ChildAppeared, Launch
from debugger.backends.dap.conversation import Conversation
from debugger.backends.dap.profile import Found, Profile
from debugger.core.breakpoints import Spec
from debugger.core.model import Exited, Frame, Purpose, Resume, Stopped
from debugger.errors import DebuggerError
from fakes import fake_profile
from kits import KITS
from kits.kit import Kit
from live import Driven, driven, launch

SCHEMA = json.loads(Path(__file__).with_name("debugAdapterProtocol.json").read_text())
# A request of debugpy's own, outside the protocol.
_FOREIGN = {"setDebuggerProperty"}
# Requests of our own, where our code runs inside the adapter.
_OURS = "debugger"
Loop = Callable[[], tuple[Launch, str, int, str]]


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
    write = Conversation._write

    def keep(self: Conversation, body: bytes) -> None:
        messages.append(json.loads(body))
        counts[id(self)] += 1
        assert messages[-1]["seq"] == counts[id(self)]
        write(self, body)

    monkeypatch.setattr(Conversation, "_write", keep)
    return messages


async def _try(call: Awaitable[object]) -> None:
    try:
        await call
    except DebuggerError:
        return


def _able(one: Driven, kind: type[Any]) -> Any:
    with suppress(DebuggerError):
        return one.backend.ability(kind)


async def _look_more(one: Driven, frame: Frame, name: str) -> None:
    """Call what only some backends can do and nothing moves, whether it succeeds or not."""
    address = int(frame.address or "0x1000", 16)
    if memory := _able(one, abilities.Memory):
        await _try(memory.read(address, 4))
        await _try(memory.write(8, b"\x2a"))
    if registers := _able(one, abilities.Registers):
        await _try(registers.registers(frame))
    if disassembly := _able(one, abilities.Disassembly):
        await _try(disassembly.instructions(address, 2))
    if modules := _able(one, abilities.Modules):
        await _try(modules.modules())
    if targets := _able(one, abilities.StepTargets):
        await _try(targets.step_targets(frame))
    if addresses := _able(one, abilities.InstructionBreakpoints):
        await _try(one.add(Spec(address=hex(address), condition=f"{name} == 2")))
        await _try(addresses.set_instruction_breakpoints([]))
    if exceptions := _able(one, abilities.Exceptions):
        await _try(one.add(*(Spec(catch=word) for word in exceptions.catches)))
        await _try(exceptions.set_catches([]))
    if watchpoints := _able(one, abilities.Watchpoints):
        with suppress(DebuggerError):
            await watchpoints.unwatch(await one.watch(name, frame))


async def _move_more(one: Driven, stop: Stopped, file: str, line: int) -> None:
    """Move as only some backends can."""
    thread = stop.thread
    assert thread is not None
    if jump := _able(one, abilities.Jump):
        with suppress(DebuggerError):
            await jump.jump(file, line, thread)
            if jump.is_reported:
                await one.seen.next(Stopped)
    if steps := _able(one, abilities.InstructionSteps):
        with suppress(DebuggerError):  # CodeLLDB may say that its resume timed out
            await steps.step_instruction(Resume.NEXT, thread)
            await one.seen.next(Stopped)
    if alone := _able(one, abilities.ThreadsAlone):
        await alone.resume_alone(Resume.NEXT, thread)
        await one.seen.next(Stopped)


async def _use_everything(one: Driven, start: Launch, file: str, line: int, name: str) -> None:
    """Call all that a backend can do, whether it succeeds or not."""
    backend = one.backend
    await backend.start(start)
    await one.add(Spec(function="no_such_function"))
    await one.add(
        Spec(file=file, line=line, condition=f"{name} >= 0", hit_count=1),
        Spec(file=file, line=line + 1, log=f"{{{name}}}", condition=f"{name} == 1"),
    )
    await backend.run()
    stop = await one.seen.next(Stopped)
    assert stop.thread is not None
    await backend.threads()
    frame = (await backend.stack(stop.thread, start=0, levels=5)).frames[0]
    for scope in await backend.scopes(frame):
        for value in (await backend.variables(scope.handle))[:20]:
            if value.handle:
                await backend.variables(value.handle, start=1, count=2)
                await backend.size(value.handle)
    for purpose in Purpose:
        await _try(backend.evaluate(name, frame, purpose))
    await _try(backend.raw("help", None))
    await _try(backend.assign(name, "1", frame))
    await _try(backend.exception(stop))
    await _try(backend.source(frame))
    await _look_more(one, frame, name)
    await _move_more(one, stop, file, line)
    for how in (Resume.STEP, Resume.NEXT, Resume.FINISH):
        await backend.resume(how, stop.thread)
        await one.seen.next(Stopped)
    await _try(backend.pause())
    await backend.set_breakpoints(file, [])
    await backend.set_function_breakpoints([])
    await _to_the_end(one, stop.thread)


async def _to_the_end(one: Driven, thread: int) -> None:
    """Run to the end; a pause that came while the program stood may be kept for later.

    gdb 16 stops by it again, CodeLLDB answers that the resume timed out.
    """
    for _ in range(3):
        with suppress(DebuggerError):
            await one.backend.resume(Resume.CONTINUE, thread)
        if isinstance(await one.seen.next((Stopped, Exited)), Exited):
            return
    raise AssertionError(f"it stops again: {one.seen}")


def _fake_loop() -> tuple[Launch, str, int, str]:
    return launch("/imaginary/main.c", "5"), "/imaginary/main.c", 4, "n"


def _loop_of(kit: Kit) -> Loop:
    return lambda: (kit.loop(), kit.file, kit.stop_line, kit.variable)


_FAKE = fake_profile.PROFILE
CASES = [
    pytest.param(_FAKE, (), _fake_loop, id="fake"),
    pytest.param(_FAKE, ("run-in-terminal",), _fake_loop, id="run-in-terminal"),
    pytest.param(_FAKE, ("late-capabilities",), _fake_loop, id="late-capabilities"),
    pytest.param(_FAKE, ("thread-id-zero",), _fake_loop, id="thread-id-zero"),
    *(
        pytest.param(
            kit.profile, (), _loop_of(kit), id=kit.name, marks=pytest.mark.adapter(kit.name)
        )
        for kit in KITS
        if kit.is_real and kit.backend == "dap"
    ),
]


def _found(profile: Profile, *arguments: str) -> Found:
    if profile is _FAKE:
        return fake_profile.found(*arguments)
    return choose.find(profile, os.environ, {})


@pytest.mark.parametrize(("profile", "quirks", "loop"), CASES)
async def test_whatever_is_sent_fits_the_schema(
    profile: Profile,
    quirks: tuple[str, ...],
    loop: Loop,
    runtime_dir: Path,
    sent: list[dict[str, Any]],
):
    found = _found(profile, *fake_profile.quirks(*quirks))
    async with driven(profile, found, runtime_dir / "scratch") as one:
        await _use_everything(one, *loop())
    commands = {message["command"] for message in sent}
    assert {"initialize", "launch", "setBreakpoints", "evaluate", "disconnect"} <= commands
    assert ("runInTerminal" in commands) >= ("run-in-terminal" in quirks)
    for message in sent:
        _check(message)


async def test_what_is_sent_for_a_child_and_for_an_attach_fits_the_schema(
    runtime_dir: Path, sent: list[dict[str, Any]]
):
    found = fake_profile.found(*fake_profile.quirks("start-debugging"))
    async with driven(_FAKE, found, runtime_dir / "scratch") as one:
        await one.backend.start(launch("/imaginary/main.c"))
        await one.backend.run()
        child = (await one.seen.next(ChildAppeared)).backend
        await child.connect()
        await child.run()
    assert {"startDebugging", "attach"} <= {message["command"] for message in sent}
    for message in sent:
        _check(message)


async def test_the_adapter_receives_what_was_sent(
    runtime_dir: Path, tmp_path: Path, sent: list[dict[str, Any]]
):
    log = tmp_path / "log"
    found = fake_profile.found("--log", str(log))
    async with driven(_FAKE, found, runtime_dir / "scratch") as one:
        await _use_everything(one, *_fake_loop())
    received = [json.loads(line) for line in log.read_text().splitlines()]
    assert received == [message for message in sent if message["type"] == "request"]


def test_the_check_itself_can_fail():
    with pytest.raises(jsonschema.ValidationError):
        _check({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": "1"}})
