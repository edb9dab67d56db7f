"""Sessions on other hosts: OpenSSH servers on loopback, with folders and keys of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from process_trees import is_alive
from ssh_hosts import (
    SshHosts,
    children_of,
    daemon_pid,
    make_key,
    require_hosts,
    start_command,
    write_debugger_config,
)

PROGRAM = "loop.py"
HOSTS = 3
pytestmark = pytest.mark.adapter("debugpy")


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    """Start the hosts of all tests of this module; nothing may be left on them at the end."""
    found = require_hosts(HOSTS)
    yield found
    found.close()


@pytest.fixture
def config(shared_runtime_dir: Path, hosts: SshHosts) -> Path:
    """Write the configuration by which the shared daemon reaches the hosts."""
    return write_debugger_config(shared_runtime_dir, hosts)


@pytest.fixture
def at_hosts(shared_cli: Cli, config: Path) -> Iterator[Cli]:
    """Run commands against the daemon that the tests share; its sessions end with the test."""
    assert config.exists()
    yield shared_cli
    for one in list_names(shared_cli):
        shared_cli("stop", "--session", one)


def list_names(cli: Cli) -> list[str]:
    return [one["session"] for one in answer_data(cli("--json", "sessions", check=0))["sessions"]]


def start_loop(cli: Cli, *words: str, host: str = "h1") -> dict[str, Any]:
    place = marked_location(PROGRAM, "add")
    program = resolve_program(PROGRAM)
    return answer_data(
        cli("--json", "start", "--host", host, program, "--break", place, *words, check=0)
    )


def test_a_session_on_a_host_takes_the_commands_of_a_session_here(at_hosts: Cli) -> None:
    stop = start_loop(at_hosts)
    assert (stop["session"], stop["state"], stop["reason"]) == ("loop@h1", "stopped", "breakpoint")
    number = answer_data(at_hosts("--json", "print", "i", check=0))["value"]
    at_hosts("continue", check=0)
    assert at_hosts("print", "i", check=0).out != f"i = {number}\n"
    assert "loop.py" in at_hosts("backtrace", check=0).out
    assert at_hosts("next", check=0).out.startswith("stopped: step")
    assert at_hosts("sessions", check=0).out.startswith("* loop@h1: stopped")
    here = at_hosts("start", resolve_program(PROGRAM), "--stop-on-entry", check=0)
    assert here.out.startswith("stopped")
    assert at_hosts("status", check=0).out.startswith("loop: stopped")
    assert at_hosts("use", "loop@h1", check=0).out.startswith("loop@h1: stopped")
    assert "removed" in at_hosts("breakpoint", "remove", "--all", check=0).out
    assert "exited: status 3" in at_hosts("continue", check=0).out
    assert at_hosts("output", check=0).out != ""
    at_hosts("stop", check=0)
    assert list_names(at_hosts) == ["loop"]


def test_a_host_behind_another_is_reached_by_its_jump_host(
    at_hosts: Cli, hosts: SshHosts, shared_runtime_dir: Path, tmp_path: Path
) -> None:
    command = changed_ssh(hosts, tmp_path, lambda text: f"Host h2-far\n  ProxyJump h1\n{text}")
    (shared_runtime_dir / "config.toml").write_text(f'[hosts]\nssh = "{command}"\n')
    assert start_loop(at_hosts, host="h2-far")["session"] == "loop@h2-far"
    assert at_hosts("next", check=0).out.startswith("stopped: step")


def test_a_process_of_a_host_is_attached_to_and_stays(
    at_hosts: Cli, tmp_path: Path, wait_until: Callable[..., None]
) -> None:
    mark = tmp_path / "mark"
    command = [shutil.which("python3") or "python3", resolve_program("ticker.py"), str(mark)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        wait_until(mark.exists)
        answer = at_hosts("attach", "--host", "h1", str(process.pid), "--pause", check=0)
        assert answer.out.startswith("stopped")
        assert "ticker.py" in at_hosts("backtrace", check=0).out
        at_hosts("detach", check=0)
        assert process.poll() is None
        process.kill()


def test_folders_of_the_host_are_mapped_both_ways(
    at_hosts: Cli, hosts: SshHosts, shared_runtime_dir: Path, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for one in (here, there):
        one.mkdir()
        shutil.copy(resolve_program(PROGRAM), one / PROGRAM)
    (there / "only_there").touch()
    write_debugger_config(shared_runtime_dir, hosts, f'[sources]\nmap = {{ "{there}" = "{here}" }}')
    place = f"{here}/{PROGRAM}:{marked_location(PROGRAM, 'add').rpartition(':')[2]}"
    stop = answer_data(
        at_hosts("--json", "start", "--host", "h1", PROGRAM, "--break", place, cwd=here, check=0)
    )
    assert stop["frame"]["file"] == f"{here}/{PROGRAM}"
    found = at_hosts("print", "__import__('os').listdir()", check=0).out
    assert "only_there" in found
    assert str(there) not in at_hosts("status", check=0).out


def test_a_broken_connection_loses_no_event_and_is_made_again(
    at_hosts: Cli, shared_runtime_dir: Path
) -> None:
    answer = at_hosts("start", "--host", "h1", resolve_program("ticker.py"), "--no-wait", check=0)
    assert "running" in answer.out
    pid = answer_data(at_hosts("--json", "status", check=0))["pid"]
    waiting = start_command(shared_runtime_dir, "await", "--timeout", "60")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=1.0)
    for one in children_of(daemon_pid(shared_runtime_dir), "ssh"):
        os.kill(one, signal.SIGKILL)
    out, error = waiting.communicate(timeout=30)
    assert "the connection to h1 broke while it ran await" in error, out
    assert is_alive(pid)
    assert "debugger status connects again" in error
    assert answer_data(at_hosts("--json", "status", check=0))["pid"] == pid
    assert "exited: status 0" in at_hosts("await", "--timeout", "30", check=0).out
    lines = answer_data(at_hosts("--json", "--budget", "200000", "output", "--all", check=0))
    numbers = [int(one["text"].split()[1]) for one in lines["lines"]]
    # What was written while nobody was connected has waited at the host.
    assert numbers == list(range(numbers[0], 601))


def test_a_client_that_is_killed_leaves_the_session(
    at_hosts: Cli, shared_runtime_dir: Path
) -> None:
    at_hosts("start", "--host", "h1", resolve_program("endless.py"), "--no-wait", check=0)
    waiting = start_command(shared_runtime_dir, "await", "--timeout", "60")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=1.0)
    waiting.kill()
    waiting.communicate()
    assert at_hosts("pause", check=0).out.startswith("stopped")


def test_a_daemon_of_a_host_that_is_killed_is_reported_and_leaves_nothing(
    at_hosts: Cli, hosts: SshHosts, wait_until: Callable[..., None]
) -> None:
    start_loop(at_hosts, host="h2")
    status = answer_data(at_hosts("--json", "daemon", "status", "--host", "h2", check=0))
    os.kill(status["pid"], signal.SIGKILL)
    wait_until(lambda: not hosts.named("h2").processes(), what="the end of all on the host")
    answer = at_hosts("print", "i")
    assert "the daemon on h2 has ended; lost: session loop@h2" in answer.err
    assert list_names(at_hosts) == []


def test_nothing_is_left_on_a_host_when_the_daemon_here_ends_or_is_killed(
    cli: Cli, runtime_dir: Path, hosts: SshHosts, wait_until: Callable[..., None]
) -> None:
    write_debugger_config(runtime_dir, hosts, keep_s=0.5)
    start_loop(cli, host="h3")
    assert hosts.named("h3").processes()
    cli("stop", "--all", check=0)
    wait_until(lambda: not hosts.named("h3").processes(), what="the end of all on the host")
    start_loop(cli, "--session", "own", host="h3")
    taken = cli("start", "--session", "own", resolve_program(PROGRAM))
    assert "the session 'own' is in use" in taken.err
    os.kill(daemon_pid(runtime_dir), signal.SIGKILL)
    wait_until(lambda: not hosts.named("h3").processes(), what="the same")


def changed_ssh(hosts: SshHosts, tmp_path: Path, change: Callable[[str], str]) -> str:
    """Write a changed ssh configuration, and return the command that uses it."""
    path = tmp_path / "ssh_config"
    path.write_text(change((hosts.folder / "config").read_text()))
    return f"ssh -F {path}"


@pytest.mark.parametrize(
    "refusal",
    [
        ("unknown key", "DENIED", "h1-refused: its host key is not known"),
        ("changed key", "DENIED", "h1-refused: its host key is another than the known one"),
        ("no login", "DENIED", "h1-refused: none of your keys is taken, and no password"),
        ("no host", "NOT_FOUND", "h1-refused: no such host"),
        ("closed port", "NOT_FOUND", "h1-refused: the connection was refused"),
        ("jump host down", "NOT_FOUND", "h1-refused: its jump host: the connection was refused"),
        ("not from there", "NOT_FOUND", "h1-refused: its jump host does not reach it"),
        ("no ssh", "ADAPTER_NOT_FOUND", "/no/ssh is not installed here"),
    ],
)
def test_what_ssh_refuses_is_an_error_with_a_hint(
    at_hosts: Cli, hosts: SshHosts, config: Path, tmp_path: Path, refusal: tuple[str, str, str]
) -> None:
    case, code, message = refusal
    known = hosts.folder / "known_hosts"
    other = (hosts.folder / "h2" / "host_key.pub").read_text()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{hosts.named('h1').port} {other}")
    make_key(tmp_path / "other")
    changes: dict[str, Callable[[str], str]] = {
        "unknown key": lambda text: text.replace(str(known), str(tmp_path / "none")),
        "changed key": lambda text: text.replace(str(known), str(tmp_path / "known")),
        "no login": lambda text: text.replace(str(hosts.folder / "key"), str(tmp_path / "other")),
        "no host": lambda text: text.replace("HostName 127.0.0.1", "HostName no.invalid"),
        "closed port": lambda text: text.replace(f"Port {hosts.named('h1').port}", "Port 1"),
        "jump host down": lambda text: (
            f"Host h1-refused\n  ProxyJump down\nHost down\n  Port 1\n{text}"
        ),
        "not from there": lambda text: f"Host h1-refused\n  ProxyJump h2\n  Port 1\n{text}",
    }
    command = changed_ssh(hosts, tmp_path, changes[case]) if case in changes else "/no/ssh"
    config.write_text(f'[hosts]\nssh = "{command}"\n')
    answer = at_hosts("--json", "start", "--host", "h1-refused", "x.py")
    assert answer.data["error"]["code"] == code, answer
    assert message in answer.data["error"]["message"]
    assert answer.data["error"]["hint"]


def test_another_version_is_refused_with_the_command_that_mends_it(
    at_hosts: Cli, hosts: SshHosts
) -> None:
    command = hosts.named("h3").folder / "data/debugger-cli/host/bin/debugger"
    before = command.read_text()
    try:
        command.write_text(
            "#!/bin/sh\necho 'Welcome!'\n"
            'echo \'{"greeting":"debugger","v":1,"version":"0.0.1","daemon":"0.0.1"}\'\n'
        )
        answer = at_hosts("start", "--host", "h3", "x.py")
        assert answer.err.startswith("error: h3 has debugger 0.0.1, and this is ")
        assert "hint: debugger setup --host h3 --yes" in answer.err
        command.write_text("#!/bin/sh\necho 'No space left on device' >&2\nexit 1\n")
        assert "h3: its disk is full" in at_hosts("start", "--host", "h3", "x.py").err
        command.unlink()
        answer = at_hosts("start", "--host", "h3", "x.py", env={"PATH": "/usr/bin:/bin"})
        assert "error: h3 has no debugger" in answer.err
    finally:
        command.write_text(before)
        command.chmod(0o755)


def test_the_doctor_proves_what_is_on_a_host(at_hosts: Cli) -> None:
    answer = at_hosts("doctor", "--host", "h1,h2", "debugpy", check=0)
    lines = answer.out.splitlines()
    assert [one for one in lines if not one.startswith(" ")] == ["h1:", "h2:"]
    assert lines[1].startswith("  debugger ")
    assert lines[2].startswith("  ok       debugpy ")
