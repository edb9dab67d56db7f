"""Runs OpenSSH servers on loopback as the hosts of a test, with keys and folders of their own."""

from __future__ import annotations

import getpass
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from debugger import paths
from left_out import leave_out

SSHD: Final = "/usr/sbin/sshd"
_START_S: Final = 60.0
# Where sshd, as root, keeps its unprivileged half; Debian's service makes it.
_SEPARATION: Final = Path("/run/sshd")
# The server is the first of the processes of a host, which end with it.
_ISOLATING: Final = (
    "unshare",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--uts",
    "--time",
)
_CLOCK_S: Final = 100_000  # by which the monotonic clocks of isolated hosts differ


@dataclass
class SshHost:
    """One server, and the runtime directory of the debugger behind it."""

    name: str
    port: int
    folder: Path
    process: subprocess.Popen[bytes]
    is_isolated: bool

    @property
    def runtime_dir(self) -> Path:
        """The folder in which the debugger there keeps the daemons of its clients."""
        return self.folder / "run"

    @property
    def mark(self) -> tuple[str, str]:
        """The variable that all processes of this host have, and its value."""
        return "XDG_DATA_HOME", str(self.folder / "data")

    def processes(self) -> list[int]:
        """Return the processes of this host: programs do not get the runtime directory."""
        return find_processes(*self.mark)


@dataclass
class SshHosts:
    """Several servers, and the ssh configuration that names them h1, h2, …."""

    folder: Path
    hosts: list[SshHost] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The ssh command that knows the hosts."""
        return f"ssh -F {self.folder / 'config'}"

    def named(self, name: str) -> SshHost:
        """Return a host by its name."""
        return next(one for one in self.hosts if one.name == name)

    def close(self) -> None:
        """End the servers and remove their folders."""
        for one in self.hosts:
            one.process.send_signal(signal.SIGKILL if one.is_isolated else signal.SIGTERM)
        for one in self.hosts:
            one.process.wait(_START_S)
        shutil.rmtree(self.folder, ignore_errors=True)


def is_available() -> bool:
    """Whether this machine has OpenSSH's server and client."""
    return Path(SSHD).exists() and shutil.which("ssh") is not None


def require_hosts(count: int, *, is_isolated: bool = False) -> SshHosts:
    """Start hosts; without OpenSSH skip the test, or fail it where CI is set."""
    if is_isolated and not _can_isolate():
        leave_out("hosts with processes of their own need root, and Linux namespaces")
    if not is_available():
        leave_out("openssh-server is missing (make tools)")
    return start_hosts(count, is_isolated=is_isolated)


def _can_isolate() -> bool:
    command = [*_ISOLATING, "--monotonic", str(_CLOCK_S), "true"]
    tried = subprocess.run(command, capture_output=True, check=False)
    return tried.returncode == 0


def write_debugger_config(folder: Path, hosts: SshHosts, *lines: str, keep_s: float = 60) -> Path:
    """Write the debugger's configuration that reaches the hosts."""
    path = folder / "config.toml"
    head = ("[hosts]", f'ssh = "{hosts.command}"', f"keep_secs = {keep_s}")
    path.write_text("\n".join([*head, *lines]) + "\n")
    return path


def start_hosts(
    count: int,
    debugger: Sequence[str] = (sys.executable, "-P", "-m", "debugger"),
    *,
    is_isolated: bool = False,
) -> SshHosts:
    """Start servers; each has the debugger where `setup --host` would put it.

    Isolated hosts have processes, a name and a clock of their own, by Linux namespaces.
    """
    if os.getuid() == 0:
        _SEPARATION.mkdir(mode=0o755, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="dbgh-", dir="/tmp"))
    found = SshHosts(folder)
    try:
        make_key(folder / "key")
        shutil.copy(folder / "key.pub", folder / "authorized_keys")
        for number in range(1, count + 1):
            found.hosts.append(_start_host(folder, f"h{number}", debugger, is_isolated))
        write_client_config(found)
    except BaseException:
        found.close()
        raise
    return found


def make_key(path: Path) -> None:
    """Make a key pair without a passphrase."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path],
        check=True,
        stdin=subprocess.DEVNULL,
    )


def _start_host(above: Path, name: str, debugger: Sequence[str], is_isolated: bool) -> SshHost:
    folder = above / name
    (folder / "run").mkdir(parents=True, mode=0o700)
    make_key(folder / "host_key")
    install_command(folder / "data", debugger)
    port = _free_port()
    config = folder / "sshd_config"
    variables = {"DEBUGGER_RUNTIME_DIR": "run", "XDG_DATA_HOME": "data"}
    variables["DEBUGGER_CONFIG"] = "config.toml"
    environment = " ".join(f"{name}={folder / path}" for name, path in variables.items())
    lines = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {folder / 'host_key'}",
        f"AuthorizedKeysFile {above / 'authorized_keys'}",
        "PidFile none",
        "StrictModes no",
        "UsePAM no",
        "PermitRootLogin yes",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "MaxStartups 100",
        f"SetEnv {environment}",
    ]
    config.write_text("\n".join(lines) + "\n")
    log = (folder / "sshd.log").open("wb")
    server = [SSHD, "-D", "-e", "-f", str(config)]
    own_clock = ("--monotonic", str(_CLOCK_S * int(name.removeprefix("h"))))
    command = [*_ISOLATING, *own_clock, "sh", "-c", f"hostname {name}; exec {shlex.join(server)}"]
    process = subprocess.Popen(
        command if is_isolated else server, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    log.close()
    _await_port(port, process, folder / "sshd.log")
    return SshHost(name, port, folder, process, is_isolated)


def install_command(data: Path, debugger: Sequence[str]) -> None:
    """Put a command that runs the debugger under test where `setup --host` installs one."""
    command = data / "debugger-cli" / "host" / "bin" / "debugger"
    command.parent.mkdir(parents=True)
    words = " ".join(map(str, debugger))
    source = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}\nexport PYTHONPATH\n"
    command.write_text(
        f'#!/bin/sh\n{source if os.environ.get("PYTHONPATH") else ""}exec {words} "$@"\n'
    )
    command.chmod(0o755)
    # The adapters that are installed here are there as well.
    (data / "debugger-cli" / "adapters").symlink_to(f"{paths.data_dir(os.environ)}/adapters")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"sshd did not start: {log.read_text()}") from None
            time.sleep(0.02)
        else:
            return


def write_client_config(hosts: SshHosts) -> None:
    """Write the ssh configuration of the hosts, and the keys by which they are known."""
    known, lines = [], []
    for one in hosts.hosts:
        key = (one.folder / "host_key.pub").read_text()
        known.append(f"[127.0.0.1]:{one.port} {key}")
        lines += [f"Host {one.name} {one.name}-*", f"  Port {one.port}"]
    (hosts.folder / "known_hosts").write_text("".join(known))
    lines += [
        "Host *",
        "  HostName 127.0.0.1",
        f"  User {getpass.getuser()}",
        f"  IdentityFile {hosts.folder / 'key'}",
        "  IdentitiesOnly yes",
        "  IdentityAgent none",
        f"  UserKnownHostsFile {hosts.folder / 'known_hosts'}",
        "  GlobalKnownHostsFile none",
        "  StrictHostKeyChecking yes",
    ]
    (hosts.folder / "config").write_text("\n".join(lines) + "\n")


def find_processes(name: str, value: str) -> list[int]:
    """Return the processes in whose environment a variable begins with a value."""
    begins, found = f"{name}={value}".encode(), []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            variables = (entry / "environ").read_bytes()
        except OSError:
            continue
        if variables.startswith(begins) or b"\0" + begins in variables:
            found.append(int(entry.name))
    return found


def children_of(pid: int, name: str) -> list[int]:
    """Return the child processes of a process with this name."""
    return [child.pid for child in psutil.Process(pid).children() if child.name() == name]


def start_command(runtime_dir: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command of the debugger against the daemon of a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "debugger", *words],
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def daemon_pid(runtime_dir: Path) -> int:
    """Return the pid of the daemon of a folder."""
    return int(json.loads((runtime_dir / "daemon.json").read_text())["pid"])
