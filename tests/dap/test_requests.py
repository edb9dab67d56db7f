"""Does everything that we send fit the protocol's own schema?"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from debuggees import build, marker, source
from debugger.backends import choose
from debugger.backends.base import ChildAppeared, Launch
from debugger.backends.dap.conversation import Conversation
from debugger.backends.dap.profile import Found, Profile
from debugger.core.breakpoints import Spec
from debugger.core.model import Exited, Purpose, Resume, Stopped
from debugger.errors import DebuggerError
from fakes import fake_profile
from live import Driven, driven, launch

SCHEMA = json.loads(Path(__file__).with_name("debugAdapterProtocol.json").read_text())
# A request of debugpy's own, outside the protocol.
_FOREIGN = {"setDebuggerProperty"}
Loop = Callable[[], tuple[Launch, str, int, str]]


def _definition(message: Mapping[str, Any]) -> str:
    name = message["command"][0].upper() + message["command"][1:]
    if message["type"] == "response":
        return f"{name}Response" if message["success"] else "ErrorResponse"
    return f"{name}Request"


def _check(message: Mapping[str, Any]) -> None:
    name = "Request" if message["command"] in _FOREIGN else _definition(message)
    assert name in SCHEMA["definitions"], message
    jsonschema.validate(message, {**SCHEMA, "$ref": f"#/definitions/{name}"})


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Keep every message that goes to an adapter."""
    messages: list[dict[str, Any]] = []
    write = Conversation._write

    def keep(self: Conversation, body: bytes) -> None:
        messages.append(json.loads(body))
        write(self, body)

    monkeypatch.setattr(Conversation, "_write", keep)
    return messages


async def _try(call: Awaitable[object]) -> None:
    try:
        await call
    except DebuggerError:
        return


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
    await _try(backend.exception(stop.thread))
    await _try(backend.source(frame))
    for how in (Resume.STEP, Resume.NEXT, Resume.FINISH):
        await backend.resume(how, stop.thread)
        await one.seen.next(Stopped)
    await _try(backend.pause())
    await backend.set_breakpoints(file, [])
    await backend.set_function_breakpoints([])
    await backend.resume(Resume.CONTINUE, stop.thread)
    await one.seen.next(Exited)


def _fake_loop() -> tuple[Launch, str, int, str]:
    return launch("/imaginary/main.c", "5"), "/imaginary/main.c", 4, "n"


def _lldb_loop() -> tuple[Launch, str, int, str]:
    return launch(build("loop.c")), str(source("loop.c")), marker("loop.c", "step"), "i"


def _python_loop() -> tuple[Launch, str, int, str]:
    return launch(source("loop.py")), str(source("loop.py")), marker("loop.py", "step"), "i"


_FAKE, _LLDB, _DEBUGPY = (
    fake_profile.PROFILE,
    choose.PROFILES["lldb-dap"],
    choose.PROFILES["debugpy"],
)
_IS_LLDB, _IS_DEBUGPY = pytest.mark.adapter("lldb-dap"), pytest.mark.adapter("debugpy")
CASES = [
    pytest.param(_FAKE, (), _fake_loop, id="fake"),
    pytest.param(_FAKE, ("run-in-terminal",), _fake_loop, id="run-in-terminal"),
    pytest.param(_FAKE, ("late-capabilities",), _fake_loop, id="late-capabilities"),
    pytest.param(_FAKE, ("thread-id-zero",), _fake_loop, id="thread-id-zero"),
    pytest.param(_LLDB, (), _lldb_loop, id="lldb-dap", marks=_IS_LLDB),
    pytest.param(_DEBUGPY, (), _python_loop, id="debugpy", marks=_IS_DEBUGPY),
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
    assert [message["seq"] for message in sent] == list(range(1, len(sent) + 1))


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
