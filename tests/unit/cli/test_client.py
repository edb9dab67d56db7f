"""The client finds the daemon, passes everything on, and reports every failure."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from debugger import __version__, paths
from debugger.cli import client
from debugger.daemon import protocol, transport
from debugger.errors import DebuggerError
from fakes import toy_handler

PF_EXITING = 4  # of the flags in proc_pid_stat(5)
NOT_RUN = ("-c", "raise SystemExit('started')")
ANSWER = {"id": 1, "success": True, "exit": 0, "result": {}, "text": "done"}


def files(directory: Path) -> list[Path]:
    return list(directory.iterdir())


def test_an_answer_goes_to_stdout_and_its_exit_code_is_the_commands(runtime_dir, tmp_path):
    assert toy_handler.run_client("echo", "a", "b c").stdout == "a b c\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    assert toy_handler.run_client("cwd", cwd=tmp_path, env=env).stdout == f"{tmp_path}\n"
    assert toy_handler.run_client("env", "A", env={**os.environ, "A": "x\ny"}).stdout == "x\ny\n"


def test_each_commands_environment_is_its_own_and_not_the_daemons(runtime_dir):
    toy_handler.run_client("echo", env={**os.environ, "A": "of the first"})
    assert toy_handler.run_client("env", "A").stdout == "(unset)\n"


@pytest.mark.parametrize(
    ("errors", "seen"), [("surrogateescape", b"\xff\xc3\n"), ("strict", b"\\udcff\\udcc3\n")]
)
def test_bytes_that_are_no_text_survive_in_words_and_environment(runtime_dir, errors, seen):
    hostile = os.fsdecode(b"\xff\xc3")
    env = {**os.environ, "A": hostile, "PYTHONIOENCODING": f"utf-8:{errors}"}
    for words in (("echo", hostile), ("env", "A")):
        running = toy_handler.start_client(*words, env=env)
        assert running.communicate(timeout=toy_handler.PATIENCE_S) == (seen, b"")


def test_an_error_goes_to_stderr_with_its_hint_and_nothing_to_stdout(runtime_dir):
    ran = toy_handler.run_client("fail", check=1)
    assert ran.stdout == ""
    assert ran.stderr == "error: no such thing\nhint: debugger status\n"


def test_an_error_in_json_is_one_object_on_stdout_and_nothing_on_stderr(runtime_dir):
    ran = toy_handler.run_client("fail", "--json", check=1)
    assert ran.stderr == ""
    error = {"code": "NOT_FOUND", "message": "no such thing", "hint": "debugger status"}
    assert json.loads(ran.stdout) == {"ok": False, "error": error}
    assert toy_handler.run_client("fail", "--", "--json", check=1).stdout == ""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 3)])
def test_what_is_streamed_is_seen_before_the_answer_and_a_signal_asks_for_one(
    runtime_dir, number, status
):
    running = toy_handler.start_client("wait")
    assert toy_handler.read_line(running) == "waiting\n"
    running.send_signal(number)
    assert toy_handler.wait_client(running) == (status, "still running\n", "")


def test_a_second_ctrl_c_ends_the_command_and_not_the_daemon(runtime_dir):
    pid = toy_handler.run_client("pid").stdout
    running = toy_handler.start_client("hang")
    assert toy_handler.read_line(running) == "waiting\n"
    running.send_signal(signal.SIGINT)
    assert toy_handler.read_line(running) == "cancel seen\n"
    running.send_signal(signal.SIGINT)
    assert toy_handler.wait_client(running) == (130, "", "")
    assert toy_handler.run_client("pid").stdout == pid


def test_progress_is_shown_on_a_terminal_only_and_wiped_at_the_end(answering, monkeypatch, capsys):
    progress = [{"id": 1, "progress": f"crash: {second} s"} for second in (2, 3)]
    lines = [*progress, {"id": 1, "success": True, "text": "found", "exit": 0}]
    sent = answering(b"".join(protocol.encode_message(one) for one in lines))
    assert client.run_command(["crash"], daemon=NOT_RUN) == 0
    shown = capsys.readouterr()
    assert shown.out == "found\n"
    wipe = "\r\x1b[K"
    assert shown.err == f"{wipe}crash: 2 s{wipe}crash: 3 s{wipe}"
    del sent


def test_a_reader_that_leaves_ends_the_command_quietly(runtime_dir):
    toy_handler.run_client("echo")
    running = toy_handler.start_client("fat", "9000000")
    running.stdout.close()
    running.wait(toy_handler.PATIENCE_S)
    assert (running.returncode, running.stderr.read()) == (141, b"")
    running.stderr.close()


def test_without_any_stdout_the_command_is_still_run(runtime_dir):
    words = [sys.executable, toy_handler.__file__, "open", "app"]
    shell = ["/bin/sh", "-c", '"$@" >&- 2>&-', "sh", *words]
    subprocess.run(shell, check=True, timeout=toy_handler.PATIENCE_S)
    assert "session app" in toy_handler.run_client("daemon", "status").stdout


@pytest.mark.parametrize("words", [("daemon", "status"), ("daemon", "stop"), ("daemon", "logs")])
@pytest.mark.parametrize("as_json", [False, True])
def test_asking_for_the_daemon_never_starts_one(runtime_dir, capsys, words, as_json):
    argv = [*words, "--json"] if as_json else words
    assert client.run_command(argv, daemon=NOT_RUN) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert files(runtime_dir) == []
    log = str(runtime_dir / paths.LOG)
    if not as_json:
        assert out == (f"no log at {log}\n" if "logs" in words else "daemon: not running\n")
        return
    data = {"path": log, "lines": []} if "logs" in words else {"running": False}
    assert json.loads(out) == {"ok": True, "data": data}


def _runs_no_code(pid: int) -> bool:
    """Return whether a process has gone, or is on its way out, its files closed already."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return fields[0] == "Z" or bool(int(fields[6]) & PF_EXITING)


def test_to_stop_the_daemon_waits_until_it_is_gone_and_says_what_it_ended(runtime_dir):
    toy_handler.run_client("open", "app")
    pid = int(toy_handler.run_client("pid").stdout)
    ran = toy_handler.run_client("daemon", "stop")
    assert ran.stdout == f"daemon: stopped (pid {pid}); ended: session app (./app, pid 123)\n"
    assert not toy_handler.list_files(runtime_dir)
    assert _runs_no_code(pid)


def test_the_logs_are_the_end_of_the_daemons_log(runtime_dir):
    toy_handler.run_client("crash", check=1)
    lines = toy_handler.run_client("daemon", "logs").stdout.splitlines()
    assert any("serving on" in line for line in lines)
    assert "ZeroDivisionError: integer division or modulo by zero" in lines
    (runtime_dir / paths.LOG).write_text("".join(f"{n}\n" for n in range(1000)))
    told = json.loads(toy_handler.run_client("daemon", "logs", "--json").stdout)["data"]
    assert told["lines"] == [str(number) for number in range(800, 1000)]
    refused = toy_handler.run_client("daemon", "logs", "--bogus", check=2)
    assert refused.stderr == "error: daemon logs: no option --bogus\nhint: debugger daemon logs\n"


@pytest.mark.parametrize("argv", [["--version"], [], ["--help"], ["start", "-h"]])
def test_version_and_help_need_neither_daemon_nor_directory(monkeypatch, capsys, argv):
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", "/dev/null/nowhere")
    assert client.run_command(argv, daemon=NOT_RUN) == 0
    out = capsys.readouterr().out
    assert out == f"debugger {__version__}\n" if argv == ["--version"] else "debugger" in out


def test_help_and_version_behind_the_double_dash_are_the_programs(runtime_dir):
    words = ("echo", "--", "--help", "--version")
    assert toy_handler.run_client(*words).stdout == "-- --help --version\n"


@pytest.mark.parametrize("fault", ["open", "link"])
@pytest.mark.parametrize("words", [("echo",), ("daemon", "status"), ("daemon", "stop")])
def test_an_unsafe_runtime_directory_is_refused_before_anything_is_done(
    runtime_dir, monkeypatch, capsys, fault, words
):
    unsafe = runtime_dir / "unsafe"
    if fault == "open":
        unsafe.mkdir()
        unsafe.chmod(0o777)
    else:
        (runtime_dir / "target").mkdir(0o700)
        unsafe.symlink_to(runtime_dir / "target")
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(unsafe))
    assert client.run_command(words, daemon=NOT_RUN) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: the runtime directory {unsafe} is ")
    assert "hint: set DEBUGGER_RUNTIME_DIR" in err
    assert client.run_command([*words, "--json"], daemon=NOT_RUN) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "DENIED"
    assert files(unsafe) == []


def test_a_daemon_that_does_not_start_is_an_error_in_either_form(runtime_dir, capsys):
    assert client.run_command(["echo"], daemon=NOT_RUN) == 1
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[0]) == ("", "error: the daemon did not start: it ended at once")
    assert "  started\n" in err
    assert client.run_command(["echo", "--json"], daemon=NOT_RUN) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "INTERNAL"


@pytest.fixture
def answering(runtime_dir: Path) -> Iterator[Callable[..., list[dict[str, object]]]]:
    """Be a daemon that says to each connection's first line what the test wants."""
    listener, _ = transport.listen_for_clients(str(runtime_dir), "")
    listener.settimeout(toy_handler.PATIENCE_S)
    threads: list[threading.Thread] = []
    heard: list[dict[str, object]] = []

    def serve(sayings: tuple[bytes, ...]) -> None:
        for said in sayings:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                connection.settimeout(toy_handler.PATIENCE_S)
                heard.append(protocol.decode_message(lines.readline()))
                if said:
                    connection.sendall(said)
                else:
                    lines.read()  # until the client gives up

    def begin(*sayings: bytes) -> list[dict[str, object]]:
        threads.append(threading.Thread(target=serve, args=(sayings,)))
        threads[-1].start()
        return heard

    yield begin
    for thread in threads:
        thread.join(toy_handler.PATIENCE_S)
        assert not thread.is_alive()
    listener.close()


def test_a_request_carries_all_that_a_command_depends_on(answering, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A", "b")
    heard = answering(protocol.encode_message(ANSWER))
    assert client.run_command(["next", "3"], daemon=NOT_RUN) == 0
    assert capsys.readouterr().out == "done\n"
    (request,) = heard
    assert request.pop("env")["A"] == "b"
    assert request == {
        "v": 1,
        "id": 1,
        "argv": ["next", "3"],
        "cwd": str(tmp_path),
        "width": 80,
        "tty": False,
        "progress": False,
        "client": __version__,
        "result": False,
    }


def test_a_removed_working_directory_hinders_no_command(answering, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setenv("PWD", str(tmp_path / "gone"))
    (tmp_path / "gone").rmdir()
    heard = answering(protocol.encode_message(ANSWER))
    assert client.run_command(["status"], daemon=NOT_RUN) == 0
    assert heard[0]["cwd"] == str(tmp_path / "gone")


def test_a_note_goes_to_stderr_and_answers_to_others_are_passed_over(answering, capsys):
    other = {**ANSWER, "id": 9, "text": "not for us"}
    answering(protocol.encode_message(other) + protocol.encode_message({**ANSWER, "note": "older"}))
    assert client.run_command(["status"], daemon=NOT_RUN) == 0
    assert capsys.readouterr() == ("done\n", "note: older\n")


def test_the_text_of_a_failure_goes_to_stdout_in_place_of_the_message(answering, capsys):
    answering(
        protocol.encode_message(
            {**ANSWER, "success": False, "exit": 4, "error": {}, "text": "{}\n"}
        )
    )
    assert client.run_command(["locals", "--json"], daemon=NOT_RUN) == 4
    assert capsys.readouterr() == ("{}\n", "")


@pytest.mark.parametrize("said", [b"garbage\n", b"[]\n", b"\xff\n", b"x" * 1001])
def test_an_answer_that_is_no_message_is_a_protocol_error(answering, monkeypatch, capsys, said):
    monkeypatch.setattr(protocol, "MAX_BYTES", 1000)
    monkeypatch.setattr(client, "_build_request", lambda argv: {"argv": argv})
    answering(said)
    assert client.run_command(["status", "--json"], daemon=NOT_RUN) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "PROTOCOL"
    assert error["message"].startswith("the daemon's answer")
    assert error["hint"] == "debugger daemon stop"


def test_a_command_that_fits_into_no_message_is_refused_here(runtime_dir, capsys):
    with transport.listen_for_clients(str(runtime_dir), "")[0]:
        assert client.run_command(["x" * protocol.MAX_BYTES], daemon=NOT_RUN) == 1
    assert f"a message at most {protocol.MAX_BYTES}" in capsys.readouterr().err


def test_an_ending_daemon_is_asked_no_more_than_three_times(answering, capsys):
    heard = answering(*[protocol.encode_message({**ANSWER, "retry": True})] * 3)
    assert client.run_command(["status"], daemon=NOT_RUN) == 1
    assert len(heard) == 3
    assert "the daemon does not answer" in capsys.readouterr().err


def test_a_refusal_of_an_ending_daemon_is_followed_by_its_successors_answer(answering, capsys):
    answering(protocol.encode_message({**ANSWER, "retry": True}), protocol.encode_message(ANSWER))
    assert client.run_command(["status"], daemon=NOT_RUN) == 0
    assert capsys.readouterr() == ("done\n", "")


def test_a_silent_daemon_is_named_with_the_way_to_end_it(
    answering, runtime_dir, monkeypatch, capsys
):
    receive = transport.DaemonConnection.receive_line
    monkeypatch.setattr(
        transport.DaemonConnection,
        "receive_line",
        lambda connection, timeout: receive(connection, timeout and 0.05),
    )
    transport.write_state(str(runtime_dir), {"pid": 4, "transport": "unix"})
    answering(b"")
    assert client.run_command(["daemon", "status"], daemon=NOT_RUN) == 1
    assert capsys.readouterr().err == (
        "error: the daemon (pid 4) does not answer\nhint: debugger daemon logs; kill 4 ends it\n"
    )


def test_after_ctrl_c_the_wait_for_an_answer_is_bounded(answering, monkeypatch):
    waits: list[float | None] = []

    def interrupted_first(
        _connection: transport.DaemonConnection, timeout: float | None
    ) -> bytes | None:
        waits.append(timeout)
        if len(waits) == 1:
            raise KeyboardInterrupt
        raise TimeoutError

    monkeypatch.setattr(transport.DaemonConnection, "receive_line", interrupted_first)
    answering(b"")
    assert client.run_command(["next"], daemon=NOT_RUN) == 130
    assert waits[0] is None
    assert waits[1] is not None


def test_a_hot_command_loads_nothing_that_only_rare_ones_need(runtime_dir):
    toy_handler.run_client("echo")
    code = (
        "import sys; from debugger.cli import client;"
        "client.run_command(['echo', 'on', 'and', 'on']);"
        "print(*sorted({'asyncio', 'json', 'socket', 'subprocess', 'typing', 'enum', 're',"
        " 'pathlib', 'click', 'msgspec', 'debugger.errors', 'debugger.daemon.daemon_process'}"
        " & sys.modules.keys()))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(client.__file__).parents[2])}
    command = [sys.executable, "-S", "-c", code]
    ran = subprocess.run(
        command, env=env, capture_output=True, text=True, check=True, timeout=toy_handler.PATIENCE_S
    )
    assert ran.stdout == "on and on\n\n"


def test_what_only_describes_commands_loads_nothing_that_runs_them():
    engines = {
        f"debugger.{one}" for one in ("install", "recorders", "session", "symbols", "targets")
    }
    code = (
        "import sys; from debugger.cli import client\n"
        "def loaded(): return {'.'.join(one.split('.')[:2]) for one in sys.modules}\n"
        "client.run_command(['probe', '--help'])\n"
        f"print(*sorted(loaded() & {engines | {'click', 'asyncio'}}))\n"
        "import debugger.mcp.tools\n"
        f"print(*sorted(loaded() & {engines}))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(client.__file__).parents[2])}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(
        command, env=env, capture_output=True, text=True, check=True, timeout=toy_handler.PATIENCE_S
    )
    assert ran.stdout.startswith("usage: debugger probe")
    assert ran.stdout.endswith("--help\n\n\n")


def test_the_mcp_server_is_imported_without_the_garbage_collector(monkeypatch):
    # A fifth of its start would be the search for garbage in the SDK's models.
    found = []

    class Importer:
        def find_spec(self, name, *_others):
            if name == "debugger.mcp.mcp_main":
                found.append(gc.isenabled())
                raise ImportError(name)

    monkeypatch.delitem(sys.modules, "debugger.mcp.mcp_main", raising=False)
    if (package := sys.modules.get("debugger.mcp")) is not None:
        monkeypatch.delattr(package, "mcp_main", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Importer(), *sys.meta_path])
    try:
        with pytest.raises(ImportError):
            client._serve_door(["mcp"], "mcp", None)
    finally:
        gc.enable()
    assert found == [False]


def test_who_is_hung_up_on_while_a_successor_begins_does_not_tell_of_a_death(runtime_dir):
    state = runtime_dir / paths.STATE
    state.write_text(json.dumps({"pid": 2, "sessions": []}))
    client._raise_if_daemon_died(str(runtime_dir), ["echo"], 1)
    for asked in (2, None):
        with pytest.raises(DebuggerError, match="died while it ran 'echo'"):
            client._raise_if_daemon_died(str(runtime_dir), ["echo"], asked)


def test_a_connection_knows_whose_it_is(runtime_dir):
    pid = int(toy_handler.run_client("pid").stdout)
    connection = transport.connect_daemon(str(runtime_dir))
    assert connection is not None
    assert connection.peer_pid() == pid
    connection.close()


@pytest.mark.parametrize(
    ("imported", "shown"), [("os", ["shown"]), ("threading", ["shown", "end"])]
)
def test_a_process_ends_without_cleaning_up_where_nothing_else_may_wait_for_it(imported, shown):
    script = f"""
import {imported}
import atexit
from debugger.cli import client
atexit.register(print, "end")
client.run_command = lambda: print("shown") or 3
raise SystemExit(client.run_process())
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ran.stdout.split(), ran.returncode) == (shown, 3)
