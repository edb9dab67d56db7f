"""What enters a Python process where the machine's gdb cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets import process_target

_WRITES = "#!/bin/sh\necho '$1 = 2'\n"
_FAILS = '#!/bin/sh\necho "Couldn\'t write extended state status: Bad address." >&2\n'


@pytest.fixture(autouse=True)
def _large_registers(monkeypatch):
    monkeypatch.setattr(process_target, "_has_large_registers", lambda: True)


@pytest.fixture
def machine(tmp_path):
    """Give an environment, with scripts for the gdb on the PATH and the installed one."""

    def make(on_path: str | None, installed: str | None) -> dict[str, str]:
        ours = tmp_path / "data/debugger-cli/adapters/gdb"
        for folder, text in ((tmp_path / "bin", on_path), (ours, installed)):
            folder.mkdir(parents=True)
            if text is not None:
                (folder / "gdb").write_text(text)
                (folder / "gdb").chmod(0o755)
        path = f"{tmp_path}/bin"
        return {"PATH": path, "XDG_DATA_HOME": f"{tmp_path}/data", "HOME": str(tmp_path)}

    return make


def test_the_gdb_on_the_path_is_taken_where_it_writes_registers(machine):
    env = machine(_WRITES, _WRITES)
    assert process_target.with_tracer(env) == env


@pytest.mark.parametrize("on_path", [_FAILS, None])
def test_the_installed_gdb_is_taken_where_the_one_on_the_path_fails(machine, on_path):
    env = machine(on_path, _WRITES)
    first, _, rest = process_target.with_tracer(env)["PATH"].partition(":")
    assert Path(first).parts[-2:] == ("adapters", "gdb")
    assert rest == env["PATH"]


def test_a_gdb_that_would_kill_the_process_is_refused_and_another_named(machine):
    with pytest.raises(DebuggerError, match="cannot write the registers") as caught:
        process_target.with_tracer(machine(_FAILS, None))
    assert caught.value.code is ErrorCode.ADAPTER_NOT_FOUND
    assert "debugger setup gdb" in str(caught.value.hint)


def test_a_small_processor_is_not_asked(machine, monkeypatch):
    monkeypatch.setattr(process_target, "_has_large_registers", lambda: False)
    env = machine(_FAILS, None)
    assert process_target.with_tracer(env) == env
