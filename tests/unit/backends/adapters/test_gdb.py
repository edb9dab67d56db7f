"""gdb is found where it is new enough, and its texts are parsed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from debugger.backends.adapters.gdb import gdb_adapter as gdb
from debugger.backends.base import AttachTarget, ConditionError, LaunchTarget, OutputPrinted
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterSearch, StreamFiles
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoints, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, StopReason

ADAPTER = gdb.GdbAdapter()
FILES = StreamFiles("/s/in", "/s/out", "/s/err")
_IN_CALL = "while in a function called from GDB.  GDB has restored the context"


def _gdb(folder: Path, version: str, *, python: bool = True) -> Path:
    """Write a gdb that tells this version."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "gdb"
    has = "echo has python" if python else "echo Python scripting is not supported >&2"
    file.write_text(f"#!/bin/sh\necho 'GNU gdb (Some System {version}-1) {version}'\n{has}\n")
    file.chmod(0o755)
    return file


def _search(tmp_path: Path, **more: str) -> AdapterSearch:
    return AdapterSearch(
        {"PATH": str(tmp_path / "bin"), "XDG_DATA_HOME": str(tmp_path / "data"), **more}
    )


def test_the_first_gdb_that_has_an_adapter_is_taken(tmp_path: Path):
    search = _search(tmp_path)
    assert ADAPTER.find_installation(search) is None
    own = _gdb(tmp_path / "data" / "debugger-cli" / "adapters" / "gdb", "16.3")
    _gdb(tmp_path / "bin", "13.1")
    found = ADAPTER.find_installation(search)
    assert found is not None
    assert (found.argv[0], found.version) == (str(own), "16.3")
    newer = _gdb(tmp_path / "bin", "14.2.90")  # the file changed: it is asked again
    os.utime(newer, ns=(1, 1))
    found = ADAPTER.find_installation(search)
    assert found is not None
    assert (found.argv[0], found.version) == (str(newer), "14.2.90")


def test_a_gdb_without_python_has_no_adapter(tmp_path: Path):
    _gdb(tmp_path / "bin", "16.3", python=False)
    assert ADAPTER.find_installation(_search(tmp_path)) is None


def test_a_configured_gdb_is_taken_as_it_is_with_its_arguments(tmp_path: Path):
    found = ADAPTER.find_installation(
        AdapterSearch({}, path="/opt/gdb", args=("--data-directory=/opt/share",))
    )
    assert found is not None
    assert (found.argv[0], found.argv[-1]) == ("/opt/gdb", "--data-directory=/opt/share")
    assert "-nx" in found.argv


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("GNU gdb (Debian 16.3-1) 16.3\nhas python", "16.3"),
        ("GNU gdb (GDB) 14.1\nCopyright\nhas python", "14.1"),
        ("GNU gdb (Ubuntu 15.0.50.20240403-0ubuntu1) 15.0.50.20240403-git\nhas python", "15.0.50"),
        ("GNU gdb (Debian 13.1-3) 13.1\nhas python", None),
        ("GNU gdb (GDB) 16.3", None),
        ("LLDB 19", None),
    ],
)
def test_a_version_counts_if_it_has_an_adapter(said, version):
    told = gdb.version_in(said)
    assert (told or "").startswith(version or "")
    assert (told is None) is (version is None)


def test_a_launch_says_the_files_and_leaves_out_what_json_cannot_carry():
    env = {"A": "b", "BAD": "\udcff"}
    launch = LaunchTarget("/x/y z", cwd="/", env=env, args=("a b", ""), stop_on_entry=True)
    told = ADAPTER.launch_arguments(launch, FILES)
    assert told["stdio"] == ["/s/in", "/s/out", "/s/err"]
    assert (told["env"], told["args"]) == ({"A": "b"}, ["a b", ""])
    assert (told["program"], told["stopOnEntry"]) == ("/x/y z", True)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (AttachTarget(7, "/", {}, pause=True), {"stops": True, "pid": 7}),
        (
            AttachTarget(None, "/", {}, program="/x", core="/c"),
            {"stops": False, "program": "/x", "core": "/c"},
        ),
        (AttachTarget(None, "/", {}, connect=("::1", 12)), {"stops": False, "target": "[::1]:12"}),
        (AttachTarget(None, "/", {}, connect=("host", 12)), {"stops": False, "target": "host:12"}),
    ],
)
def test_an_attach_says_what_to_take_hold_of(target, told):
    assert ADAPTER.attach_arguments(target) == told


@pytest.mark.parametrize("word", ["/x\nshell id", "/x\r", "\x1b"])
def test_a_word_that_could_begin_another_command_is_refused(word):
    with pytest.raises(DebuggerError):
        ADAPTER.launch_arguments(LaunchTarget(word, cwd="/", env={}), FILES)
    with pytest.raises(DebuggerError):
        ADAPTER.attach_arguments(AttachTarget(None, "/", {}, core=word))
    with pytest.raises(DebuggerError):
        ADAPTER.attach_arguments(AttachTarget(None, "/", {}, connect=(word, 1)))


def test_a_stop_for_a_signal_has_its_name():
    body = msgspec.convert(
        {"reason": "signal", "threadId": 2, "description": "SIGSEGV: Segmentation fault"},
        dap.StoppedBody,
    )
    stop = ADAPTER.parse_stopped(body)
    assert (stop.reason, stop.signal, stop.thread) == (StopReason.SIGNAL, "SIGSEGV", 2)


def test_an_exit_is_told_by_status_or_by_signal():
    assert ADAPTER.parse_exit(3, "SIGSEGV") == ExitedProgram(code=3)
    assert ADAPTER.parse_exit(-11, None) == ExitedProgram(signal="SIGSEGV")
    assert ADAPTER.parse_exit(-42, None) == ExitedProgram(signal="SIG42")
    assert ADAPTER.parse_exit(None, None) == ExitedProgram()


def test_output_is_gdbs_own_or_tells_of_a_condition_that_failed():
    said = dap.OutputBody(output="warning: x\n", category="stdout")
    assert ADAPTER.parse_output(said) == OutputPrinted(OutputStream.CONSOLE, "warning: x\n")
    failed = dap.OutputBody(output='[[condition]] n == 1: No symbol "n".', category="console")
    assert ADAPTER.parse_output(failed) == ConditionError(None, 'n == 1: No symbol "n".')


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ('No symbol "x" in current context.', 'No symbol "x" in current context.'),
        (
            f"The program being debugged received signal SIGSEGV, Bad\n{_IN_CALL}",
            "received SIGSEGV",
        ),
        (f"The program being debugged timed out {_IN_CALL}\nMore", "did not finish in time"),
        ("The program being debugged entered a std::terminate call, most", "threw an exception"),
    ],
)
def test_what_became_of_a_called_function_is_said_in_short(text, short):
    told = ADAPTER.shorten_error(text)
    assert short in told
    assert (told == text) is (short == text)
    assert "\n" not in told


def test_a_hit_count_is_sent_as_how_many_are_passed_before():
    assert ADAPTER.format_hit_count(3) == "2"


def test_news_of_a_watchpoint_leave_how_its_value_is_read():
    known = Breakpoints()
    wanted = known.add(BreakpointSpec(watch="counter"))
    known.set_location(wanted.id, wanted.spec)
    bound = BoundBreakpoint(verified=True, backend_id=5, address="0x10", again="*(int *) 0x10")
    known.take_answers([known.get(wanted.id)], [bound])
    known.update_bound(BoundBreakpoint(verified=True, backend_id=5))
    now = known.get(wanted.id).bound
    assert now is not None
    assert (now.again, now.address) == ("*(int *) 0x10", "0x10")
