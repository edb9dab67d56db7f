"""A Jupyter kernel is found by its connection file, or the error says why not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.attach_request import AttachRequest
from debugger.targets.attach_target import prepare_attach
from debugger.targets.kernel_target import describe_cells, runtime_folder
from debugger.targets.process_target import cell_folder

FIELDS = {"transport": "tcp", "ip": "127.0.0.1", "shell_port": 1, "key": "k"}


def refused(tmp_path: Path, kernel: str, **more: Any) -> DebuggerError:
    env = {"JUPYTER_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    with pytest.raises(DebuggerError) as error:
        prepare_attach(AttachRequest(cwd=str(tmp_path), env=env, kernel=kernel, **more))
    assert error.value.hint
    return error.value


def write_file(tmp_path: Path, **fields: Any) -> str:
    (tmp_path / "k.json").write_text(json.dumps(FIELDS | fields))
    return "k.json"


def test_a_missing_file_is_said_with_the_newest_that_is_there(tmp_path: Path):
    error = refused(tmp_path, "x.json")
    assert (error.code, error.message) == (
        ErrorCode.NOT_FOUND, f"the connection file {tmp_path}/x.json does not exist"
    )  # fmt: skip
    assert "%connect_info" in str(error.hint)
    for number, age in (("7", 20), ("8", 10)):
        path = tmp_path / f"kernel-{number}.json"
        path.write_text("{}")
        os.utime(path, (age, age))
    assert refused(tmp_path, "x").hint == f"debugger attach --kernel {tmp_path}/kernel-7.json"
    assert refused(tmp_path, ".").message.endswith("is a directory")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"shell_port": "x"}', "\0"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str):
    (tmp_path / "k.json").write_text(text)
    error = refused(tmp_path, "k.json")
    assert error.code is ErrorCode.USAGE
    assert (
        error.message
        == f"{tmp_path}/k.json is no connection file of a kernel: it has no shell_port"
    )


def test_a_dead_kernel_is_said(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as freed:
        port = freed.getsockname()[1]
    error = refused(tmp_path, write_file(tmp_path, shell_port=port))
    assert error.code is ErrorCode.NOT_FOUND
    assert error.message.endswith(f"does not run: nothing listens at 127.0.0.1:{port}")


def test_a_kernel_of_another_machine_is_refused(tmp_path: Path):
    error = refused(tmp_path, write_file(tmp_path, ip="192.0.2.1"))
    assert error.code is ErrorCode.NOT_SUPPORTED
    assert error.hint == "debugger attach --kernel FILE --host 192.0.2.1"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_a_kernel_of_another_language_is_refused(tmp_path: Path):
    # The file is found on the command line: a kernel of transport ipc has no port.
    path = tmp_path / write_file(tmp_path, transport="ipc", ip="/x")
    with subprocess.Popen(
        ["/bin/sh", "-c", "read line", "kernel", "-f", path], stdin=subprocess.PIPE
    ) as kernel:
        error = refused(tmp_path, "k.json")
        assert error.code is ErrorCode.NOT_SUPPORTED
        assert f"process {kernel.pid}" in error.message
        assert error.message.endswith("runs no Python")
        kernel.communicate(b"\n")


def test_one_thing_is_attached_to(tmp_path: Path):
    assert refused(tmp_path, write_file(tmp_path), what="3").code is ErrorCode.USAGE
    assert refused(tmp_path, write_file(tmp_path), connect="x:1").code is ErrorCode.USAGE


def test_connection_files_lie_where_jupyter_puts_them():
    assert runtime_folder({"JUPYTER_RUNTIME_DIR": "/r"}) == Path("/r")
    assert runtime_folder({"JUPYTER_DATA_DIR": "/d"}) == Path("/d/runtime")
    if sys.platform != "darwin":
        assert runtime_folder({"HOME": "/h"}) == Path("/h/.local/share/jupyter/runtime")
        assert runtime_folder({"XDG_DATA_HOME": "/x"}) == Path("/x/jupyter/runtime")


def test_the_cells_are_named(tmp_path: Path):
    assert describe_cells(None) == ()
    assert describe_cells(str(tmp_path)) == ("no cell has run yet: the first one will be cell1.py",)
    for name in ("cell2.py", "cell10.py", "123.py"):
        (tmp_path / name).touch()
    (text,) = describe_cells(str(tmp_path))
    assert text == f"cells: cell2.py to cell10.py in {tmp_path}; cell10.py is In [10]"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_the_folder_of_cells_is_the_kernels_own():
    with subprocess.Popen(
        ["/bin/sh", "-c", "echo; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={"TMPDIR": "/elsewhere"},
    ) as kernel:  # fmt: skip
        assert kernel.stdout is not None
        kernel.stdout.readline()  # it runs with its own environment now
        assert cell_folder(kernel.pid) == f"/elsewhere/ipykernel_{kernel.pid}"
        kernel.communicate(b"\n")
