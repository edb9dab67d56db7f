"""`doctor` names the selected backend, the reason, and what is missing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.dap.debug_adapter import AdapterLocation
from debugger.errors import DebuggerError, ErrorCode
from debugger.install import doctor
from debugger.model import answers


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Check a machine that has nothing."""
    monkeypatch.setattr(
        doctor.select_backend, "ADAPTERS", {"gdb": doctor.select_backend.ADAPTERS["gdb"]}
    )
    monkeypatch.setattr(doctor.select_backend.lldb, "find_lldb", lambda _: None)
    nothing = {"PATH": str(tmp_path), "HOME": str(tmp_path)}

    async def run(*, only: str | None = None, **more: Any) -> Mapping[str, answers.Check]:
        env = nothing | more.pop("env", {})
        found = await doctor.check_machine(
            env, {}, only=only, scratch_root=tmp_path / "scratch", **more
        )
        return {one.name: one for one in found.checks}

    return run


async def test_what_is_missing_is_a_warning_with_its_remedy(check):
    found = await check()
    assert (found["gdb"].status, found["lldb-cli"].status) == ("warning", "warning")
    assert found["lldb-cli"].fix == "debugger setup lldb-dap --yes"
    assert found["backend"].status == "ok"
    assert found["backend"].message.startswith("dap (default)")
    assert {"ptrace", "simulators"} < found.keys()


async def test_what_is_selected_and_missing_is_an_error(check):
    found = await check(env={"DEBUGGER_BACKEND": "lldb-cli"}, adapter="gdb")
    assert (found["gdb"].status, found["lldb-cli"].status) == ("error", "error")
    assert found["backend"].message.startswith("lldb-cli (DEBUGGER_BACKEND)")


async def test_a_backend_that_is_none_is_told_and_the_rest_is_checked_all_the_same(check):
    found = await check(backend="nope")
    assert found["backend"].status == "error"
    assert "[defaults] backend" in found["backend"].message
    assert found["lldb-cli"].status == "warning"


@pytest.mark.parametrize("name", ["lldb", "lldb-cli"])
async def test_the_command_line_can_be_asked_about_alone(check, name):
    with pytest.raises(DebuggerError) as raised:
        await check(only=name)
    assert raised.value.code is ErrorCode.ADAPTER_NOT_FOUND
    assert raised.value.hint == "debugger setup lldb-dap --yes"


@pytest.mark.adapter("lldb-cli")
async def test_the_command_line_is_really_started(tmp_path, runtime_dir):
    found = await doctor.check_machine(
        dict(os.environ), {}, only="lldb-cli", scratch_root=runtime_dir / "scratch"
    )
    (one,) = found.checks
    assert (one.name, one.status) == ("lldb-cli", "ok")
    assert one.version is not None
    assert one.version[0].isdigit()


@pytest.mark.adapter("frida")
async def test_a_program_is_really_entered(runtime_dir):
    found = await doctor.check_machine(
        dict(os.environ), {}, only="frida", scratch_root=runtime_dir / "scratch"
    )
    (one,) = found.checks
    assert (one.name, one.status, one.fix) == ("frida", "ok", None)
    assert one.version is not None


async def test_what_cannot_work_on_this_system_is_said_without_a_remedy(check, monkeypatch):
    async def refuse(*_: Any) -> str:
        raise DebuggerError(ErrorCode.NOT_SUPPORTED, "it is for Linux")

    monkeypatch.setattr(doctor.select_backend, "try_frida", refuse)
    find = doctor.select_backend.find_adapter

    def found_there(adapter: Any, *more: Any) -> AdapterLocation:
        return AdapterLocation(("frida",)) if adapter.name == "frida" else find(adapter, *more)

    monkeypatch.setattr(doctor.select_backend, "find_adapter", found_there)
    found = (await check())["frida"]
    assert (found.status, found.message, found.fix) == ("warning", "it is for Linux", None)
