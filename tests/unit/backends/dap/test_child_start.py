"""A child's debugger may start late: its start has limits of its own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from debugger.backends.base import ChildStarted
from debugger.backends.dap.dap_client import AdapterLimits, DapClient
from debugger.backends.dap.dap_transport import TcpConnection
from debugger.errors import DebuggerError, ErrorCode
from driven_backend import LIMITS, drive_adapter, launch_target
from fakes import fake_adapter


async def test_each_step_of_a_childs_start_has_the_childs_limit(
    runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    limits: dict[str, list[float]] = {}
    wait, connect = DapClient.wait_for_response, TcpConnection.open_connection

    async def record_wait(self, response, command, *, within):
        limits.setdefault(command, []).append(within)
        return await wait(self, response, command, within=within)

    async def record_connect(host, port, *, within_s=0.0):
        limits.setdefault("connect", []).append(within_s)
        return await connect(host, port, within_s=within_s or 5.0)

    monkeypatch.setattr(DapClient, "wait_for_response", record_wait)
    monkeypatch.setattr(TcpConnection, "open_connection", record_connect)
    found = fake_adapter.fake_location(*fake_adapter.quirk_words("start-debugging"))
    async with drive_adapter(fake_adapter.FAKE_ADAPTER, found, runtime_dir / "scratch") as one:
        await one.backend.start(launch_target("/imaginary/main.c"))
        await one.backend.run_program()
        child = (await one.seen.next(ChildStarted)).backend
        await child.connect_child()
        await child.run_program()
    assert limits["initialize"] == [LIMITS.initialize_s, AdapterLimits().child_s]
    assert limits["connect"][-1] == AdapterLimits().child_s > LIMITS.initialize_s


async def test_an_adapter_that_does_not_take_a_connection_is_named_with_the_time():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        with pytest.raises(DebuggerError, match=f"{host}:{port}: no answer within 0 s") as failed:
            await TcpConnection.open_connection(host, port, within_s=0)
    assert failed.value.code is ErrorCode.ADAPTER_FAILED
