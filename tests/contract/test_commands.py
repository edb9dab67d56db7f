"""Every command with every adapter, as docs/adapters.md says."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_real_specs
from adapter_specs.adapter_spec import AdapterSpec
from contract import ability_table, command_walks

_ANSWER_S = 110.0


class DaemonConnection:
    """A daemon, asked over one connection: a client's start each time would cost more."""

    def __init__(self, path: Path, cwd: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_ANSWER_S)
        self._socket.connect(str(path))
        self._answers = self._socket.makefile("rb")
        self._cwd = str(cwd)

    def __call__(self, *words: str) -> dict[str, Any]:
        """Run a command; return the answer."""
        request = {"v": 1, "id": 1, "argv": words, "cwd": self._cwd, "env": dict(os.environ)}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._answers.readline())
        return answer

    def close(self) -> None:
        """Hang up."""
        self._answers.close()
        self._socket.close()


@pytest.fixture
def stray_processes() -> Iterator[set[int]]:
    """End the programs that a walk has let go."""
    pids: set[int] = set()
    yield pids
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def run_listening() -> Iterator[Callable[[AdapterSpec], int | None]]:
    """Start a program that listens for a debugger, where an adapter attaches to no other."""
    started: list[subprocess.Popen[bytes]] = []

    def start(adapter_spec: AdapterSpec) -> int | None:
        if adapter_spec.listening is None:
            return None
        process = subprocess.Popen(adapter_spec.listening(), stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None
        while line := process.stdout.readline():
            if line.decode() == adapter_spec.prints_counting:
                return process.pid
        raise AssertionError("it ended")

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.timeout(240)
@with_real_specs
def test_every_command_works_or_says_why_not(  # noqa: PLR0917 - fixtures
    adapter_spec: AdapterSpec,
    cli: Callable[..., Any],
    runtime_dir: Path,
    tmp_path: Path,
    stray_processes: set[int],
    run_listening: Callable[[AdapterSpec], int | None],
    request: pytest.FixtureRequest,
) -> None:
    seen: dict[str, str] = {}
    faults: list[str] = []
    cli("config", check=0)  # starts the daemon
    with closing(DaemonConnection(runtime_dir / "daemon.sock", tmp_path)) as ask:
        for name, rows in command_walks.WALKS.items():
            faults += [
                f"{name}: {one}"
                for one in _walk(
                    ask,
                    rows(adapter_spec, tmp_path),
                    seen,
                    stray_processes,
                    partial(run_listening, adapter_spec),
                )
            ]
    assert not faults, "\n".join(faults)
    if request.config.getoption("--update"):
        ability_table.write_column(adapter_spec.name, seen)
    assert ability_table.read_column(adapter_spec.name) == seen, (
        "docs/adapters.md says otherwise: pytest --update"
    )


def _walk(
    ask: DaemonConnection,
    rows: list[command_walks.WalkStep],
    seen: dict[str, str],
    stray: set[int],
    run_listening: Callable[[], int | None],
) -> Iterator[str]:
    """Go through one walk; yield what is wrong."""
    known = {"THREAD": "1", "ADDRESS": "0x1000", "REF": "v1"}
    is_skipping = False
    for row in rows:
        is_skipping = is_skipping and not row.leads and row.words[0] != "start"
        if is_skipping:
            continue
        if row.words[0] == "attach" and (pid := run_listening()) is not None:
            known["PID"] = str(pid)
        words = [_filled(word, known) for word in row.words]
        answer = ask(*words)
        if answer["success"]:
            data = answer["result"]
            _learn(data, known)
            if row.words[0] == "detach":
                stray.add(int(known["PID"]))
            works = row.works(data)
            if not works and not row.otherwise:
                yield f"{' '.join(words)}: {str(data)[:1500]}"
            if row.name:
                seen.setdefault(row.name, ability_table.YES if works else row.otherwise)
        elif answer["error"]["code"] == "NOT_SUPPORTED" and row.name:
            seen.setdefault(row.name, answer["error"]["message"])
            is_skipping = row.leads
        else:
            yield f"{' '.join(words)}: {answer['error']}"


def _filled(word: str, known: dict[str, str]) -> str:
    # Longest first: no name is taken for the beginning of another.
    for name in sorted(known, key=len, reverse=True):
        word = word.replace(name, known[name])
    return word


def _learn(data: dict[str, Any], known: dict[str, str]) -> None:
    """Note what later commands need: the current thread, an address, a ref, a pid, frames."""
    if isinstance(data.get("thread"), int):
        known["THREAD"] = str(data["thread"])
    frame = data.get("frame")
    if isinstance(frame, dict) and frame.get("address"):
        known["ADDRESS"] = frame["address"]
    if isinstance(data.get("ref"), str):
        known["REF"] = data["ref"]
    if isinstance(data.get("pid"), int):
        known["PID"] = str(data["pid"])
    for one in reversed(data.get("frames") or ()):
        known[f"FRAME:{one['function']}"] = str(one["index"])
