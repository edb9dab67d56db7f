"""Explains why a host was not reached, by what ssh, docker or kubectl wrote. Pure."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import HostAddress, HostKind, HostTools

_NOT_FOUND = 127  # what a shell says of a command that is not there
_LINES_MAX = 2  # of what the tool wrote that are shown
_LINE_MAX = 200  # characters
_USUAL_TOOLS = HostTools()
_SILENT_CONTAINER = "{tool} exec {text} true must work; {tool} ps shows whether it is paused"
_SILENT_POD = "{tool} exec {pod} -- true must work; {tool} get pods -A shows its state"


class KnownFailure(Struct, frozen=True):
    """What a tool says, and what it means; {…} is filled in from the host and from the match."""

    pattern: str
    code: ErrorCode
    message: str
    hint: str


# A container beside the one without Python, which sees its processes: the debugger goes there.
_BESIDE_CONTAINER = (
    "{tool} run -d --name debugger --pid=container:{text} --cap-add=SYS_PTRACE python:3.13 sleep "
    "infinity, then debugger setup --container debugger --yes; attach takes its processes"
)
_BESIDE_POD = (
    "{tool} debug {pod} --image=python:3.13 --target={container} --container=debugger "
    "--profile=general -- sleep infinity, then debugger setup --pod {beside}:debugger --yes; "
    "attach takes its processes"
)
# What ssh says when the one that it has started for the jump host ends before it has connected.
_JUMP_FAILED = re.compile(r"Connection closed by UNKNOWN port 65535")
_JUMP_HINT = "{tool} -v {to} true shows how far it comes; {tool} -G {to} names its jump host"
# OpenSSH 9 and 10, by their sources: sshconnect.c, sshconnect2.c, ssh.c, channels.c.
_SSH = (
    KnownFailure(
        r"open failed: (?:connect failed|administratively prohibited|unknown channel type): (.+)"
        r"|stdio forwarding failed",
        ErrorCode.NOT_FOUND,
        "{host}: its jump host does not reach it: {0}",
        _JUMP_HINT,
    ),
    KnownFailure(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        ErrorCode.DENIED,
        "{host}: its host key is another than the known one",
        "{forget} forgets the known key, if you know why it changed",
    ),
    KnownFailure(
        r"Host key verification failed|No \S+ host key is known",
        ErrorCode.DENIED,
        "{host}: its host key is not known",
        "{tool} -o StrictHostKeyChecking=ask {to} true, once by hand, shows the key and asks "
        "whether to trust it",
    ),
    KnownFailure(
        r"Permission denied \(([^)]*(?:password|keyboard-interactive)[^)]*)\)",
        ErrorCode.DENIED,
        "{host}: no login without a password or a question (it takes {0})",
        "{copy} makes a key enough; ssh-add unlocks one; {tool} -o BatchMode=yes {to} true must "
        "work",
    ),
    KnownFailure(
        r"Permission denied \(([^)]*)\)",
        ErrorCode.DENIED,
        "{host}: none of your keys is taken, and no password (it takes {0})",
        "{tool} -v {to} true shows which keys and which user it tries; ssh-add unlocks a key; a "
        "new one goes into ~/.ssh/authorized_keys there",
    ),
    KnownFailure(
        r"Too many authentication failures",
        ErrorCode.DENIED,
        "{host}: too many keys were tried",
        "set IdentityFile and IdentitiesOnly for this host in ~/.ssh/config",
    ),
    KnownFailure(
        r"Could not resolve hostname",
        ErrorCode.NOT_FOUND,
        "{host}: no such host",
        "{tool} {to} must work; ~/.ssh/config names hosts",
    ),
    KnownFailure(
        r"Connection refused",
        ErrorCode.NOT_FOUND,
        "{host}: the connection was refused; no ssh server listens there",
        "{tool} {to} must work; ssh://{name}:PORT names another port",
    ),
    KnownFailure(
        r"(?:Connection|Operation) timed out|banner exchange: .*timed out",
        ErrorCode.TIMEOUT,
        "{host}: no answer to ssh in time",
        "{tool} {to} must work; is the host up, and reached only through another (ProxyJump)?",
    ),
    KnownFailure(
        r"No route to host|Network is unreachable",
        ErrorCode.NOT_FOUND,
        "{host}: not reached from here",
        "{tool} {to} must work; a host behind another takes ProxyJump in ~/.ssh/config",
    ),
    KnownFailure(
        r"Bad owner or permissions on (\S+)|(\S+): line \d+: Bad configuration option",
        ErrorCode.USAGE,
        "ssh does not take its configuration: {line}",
        "{tool} {to} true says the same",
    ),
)
# docker 20 to 28 and podman 4 and 5 (the answers of the engine's API, and the command's own).
_CONTAINER = (
    KnownFailure(
        r"[Nn]o such container",
        ErrorCode.NOT_FOUND,
        "no container {text}",
        "{tool} ps lists those that run",
    ),
    # podman 4.3 says the same of a container that is paused.
    KnownFailure(
        r"can only create exec sessions on running containers",
        ErrorCode.WRONG_STATE,
        "the container {text} does not run, or is paused",
        "{tool} start {text}, or {tool} unpause {text}; {tool} ps -a shows which",
    ),
    KnownFailure(
        r"is not running",
        ErrorCode.WRONG_STATE,
        "the container {text} does not run",
        "{tool} start {text}",
    ),
    KnownFailure(
        r"is paused",
        ErrorCode.WRONG_STATE,
        "the container {text} is paused",
        "{tool} unpause {text}",
    ),
    KnownFailure(
        r"permission denied while trying to connect|dial unix \S+: connect: permission denied",
        ErrorCode.DENIED,
        "the container engine may not be used by this user",
        "{tool} ps must work; the group docker may use docker",
    ),
    KnownFailure(
        r"Cannot connect to the Docker daemon|[Cc]annot connect to Podman",
        ErrorCode.NOT_FOUND,
        "the container engine does not run here",
        "{tool} ps must work",
    ),
    KnownFailure(
        r"exec: \"sh\": executable file not found|OCI runtime .*\"?sh\"?.* not found",
        ErrorCode.NOT_SUPPORTED,
        "the container {text} has no shell, and so no Python",
        _BESIDE_CONTAINER,
    ),
)
# kubectl 1.24 to 1.33.
_POD = (
    KnownFailure(
        r"Error from server \(NotFound\): namespaces? \"?([^\" ]+)",
        ErrorCode.NOT_FOUND,
        "no namespace {0}",
        "{tool} get namespaces",
    ),
    KnownFailure(
        r"Error from server \(NotFound\)|pods? \"[^\"]*\" not found",
        ErrorCode.NOT_FOUND,
        "no pod {text}",
        "{tool} get pods -A lists them",
    ),
    KnownFailure(
        r"container (\S+) (?:is not valid for pod|not found in pod)",
        ErrorCode.NOT_FOUND,
        "the pod {text} has no container {0}",
        "{tool} describe pod lists its containers: --pod NAMESPACE/NAME:CONTAINER",
    ),
    KnownFailure(
        r"Error from server \(Forbidden\)|is forbidden",
        ErrorCode.DENIED,
        "you may not execute in the pod {text}",
        "{tool} auth can-i create pods/exec must say yes",
    ),
    KnownFailure(
        r"cannot exec into a container in a completed pod|is not running|container not found"
        r"|does not have a host assigned",
        ErrorCode.WRONG_STATE,
        "the pod {text} does not run",
        "{tool} get pods shows its state",
    ),
    KnownFailure(
        r"The connection to the server \S+ was refused|Unable to connect to the server"
        r"|couldn't get current server API group list|no configuration has been provided",
        ErrorCode.NOT_FOUND,
        "no cluster is reached",
        "{tool} get pods must work",
    ),
    KnownFailure(
        r"exec: \"sh\": executable file not found",
        ErrorCode.NOT_SUPPORTED,
        "the pod {text} has no shell, and so no Python",
        _BESIDE_POD,
    ),
)
# Of all ways: what the other side's system says.
_EVERYWHERE = (
    KnownFailure(
        r"No space left on device|[Dd]isk quota exceeded",
        ErrorCode.DENIED,
        "{host}: its disk is full",
        "make room in the home directory and in /tmp there",
    ),
    KnownFailure(
        r"Read-only file system",
        ErrorCode.DENIED,
        "{host}: its file system is read-only",
        "the home directory there must be writable: ~/.local/share, or XDG_DATA_HOME",
    ),
)
_TABLES: Mapping[HostKind, Sequence[KnownFailure]] = {
    HostKind.SSH: _SSH,
    HostKind.CONTAINER: _CONTAINER,
    HostKind.POD: _POD,
}
_NO_PYTHON = r"debugger-setup: no-python"
_SETUP_BESIDE: Mapping[HostKind, Sequence[KnownFailure]] = {
    kind: (
        KnownFailure(
            _NO_PYTHON, ErrorCode.ADAPTER_NOT_FOUND, "{host} has no Python 3.11 or later", hint
        ),
    )
    for kind, hint in ((HostKind.CONTAINER, _BESIDE_CONTAINER), (HostKind.POD, _BESIDE_POD))
}
# The markers of `host_scripts.INSTALL_DEBUGGER`.
_SETUP = (
    KnownFailure(
        _NO_PYTHON,
        ErrorCode.ADAPTER_NOT_FOUND,
        "{host} has no Python 3.11 or later",
        "install it there first: apt install python3 python3-venv",
    ),
    KnownFailure(
        r"debugger-setup: no-venv",
        ErrorCode.ADAPTER_FAILED,
        "{host}: Python could not make a virtual environment: {line}",
        "apt install python3-venv, there",
    ),
    KnownFailure(
        r"debugger-setup: no-(?:folder|space)",
        ErrorCode.DENIED,
        "{host}: its home directory cannot be written to: {line}",
        "~/.local/share there must be writable, and have room",
    ),
    KnownFailure(
        r"debugger-setup: no-pip",
        ErrorCode.ADAPTER_FAILED,
        "{host}: pip could not install the debugger: {line}",
        "pip there needs a package index, or a PIP_INDEX_URL of your own",
    ),
)


def explain_host_failure(
    address: HostAddress,
    status: int | None,
    output: str,
    *,
    tools: HostTools = _USUAL_TOOLS,
    is_setup: bool = False,
) -> DebuggerError:
    """Return the error for a host that was not reached, or did not do what it was told.

    Args:
        address: The host.
        status: The exit status of ssh, docker or kubectl; None if it had to be ended.
        output: What it wrote to standard error.
        tools: What was called.
        is_setup: The installation was on the way, not the debugger's own start.
    """
    # A full disk is behind any other failure.
    setup = (*_SETUP_BESIDE.get(address.kind, ()), *_SETUP) if is_setup else ()
    tables = (*_EVERYWHERE, *setup, *_TABLES[address.kind])
    for one in tables:
        if found := re.search(one.pattern, output):
            values = _name_values(address, tools, output)
            error = _fill_in(one, values, found)
            has_jumped = one in _SSH and one is not _SSH[0] and _JUMP_FAILED.search(output)
            return _blame_jump_host(error, values) if has_jumped else error
    if status == _NOT_FOUND:
        return DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            f"{address.label} has no debugger",
            hint=f"{address.write_command('setup', '--yes')} installs it there",
        )
    if status is not None and status < 0:
        again = ("setup", "--yes") if is_setup else ("doctor",)
        return DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            f"{address.label}: the connection ended: {tools.for_kind(address.kind)[0]} was ended "
            f"by {_name_signal(-status)}",
            hint=f"{address.write_command(*again)} begins again",
        )
    shown = _last_lines(output) or (f"status {status}" if status is not None else "no answer")
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"{address.label} was not reached: {shown}",
        hint=address.write_command("doctor"),
    )


def silent_host_error(address: HostAddress, tools: HostTools, within_s: float) -> DebuggerError:
    """Return the error for a host that has not greeted in time."""
    known = _SILENT_POD if address.kind is HostKind.POD else _SILENT_CONTAINER
    hint = "{tool} -v {to} true shows how far it comes" if address.kind is HostKind.SSH else known
    return DebuggerError(
        ErrorCode.TIMEOUT,
        f"{address.label} did not answer within {within_s:g} s",
        hint=hint.format(**_name_values(address, tools, "")),
    )


def _blame_jump_host(error: DebuggerError, values: Mapping[str, str]) -> DebuggerError:
    reason = error.message.removeprefix(f"{values['host']}: ")
    return DebuggerError(
        error.code,
        f"{values['host']}: its jump host: {reason}",
        hint=_JUMP_HINT.format(**values),
    )


def _fill_in(known: KnownFailure, values: Mapping[str, str], found: re.Match[str]) -> DebuggerError:
    groups = [one or "" for one in found.groups()]
    return DebuggerError(
        known.code,
        known.message.format(*groups, **values),
        hint=known.hint.format(*groups, **values),
    )


def _name_values(address: HostAddress, tools: HostTools, output: str) -> Mapping[str, str]:
    """Return what messages and hints may name: the host, and the commands that reach it."""
    tool = tools.for_kind(address.kind)
    user, host, port = address.split_destination()
    plain = f"{user}@{host}" if user else host
    return {
        "host": address.label,
        "name": plain,
        "text": address.text.removeprefix("ssh://"),
        "to": address.destination,
        "tool": shlex.join(tool),
        "copy": shlex.join(["ssh-copy-id", *_copy_options(tool, port), plain]),
        "forget": _forget_key_command(output, host),
        **_name_pod(address),
        "line": _last_lines(re.sub(r"debugger-setup: \S+", "", output)),
    }


def _copy_options(tool: Sequence[str], port: str) -> Sequence[str]:
    """Return those options of a configured ssh that ssh-copy-id takes, too."""
    words = list(tool[1:])
    pairs = [two for two in pairwise(words) if two[0] in {"-F", "-i", "-o"}]
    return [*(word for two in pairs for word in two), *(("-p", port) if port else ())]


def _forget_key_command(output: str, host: str) -> str:
    """Return the command that forgets a known key: its file and name are what ssh says."""
    file = re.search(r"^Offending .*key in (.+):\d+\s*$", output, re.MULTILINE)
    name = re.search(r"^Host key for (\S+) has changed", output, re.MULTILINE)
    words = ["ssh-keygen", *(("-f", file[1]) if file else ()), "-R", name[1] if name else host]
    return shlex.join(words)


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _name_pod(address: HostAddress) -> Mapping[str, str]:
    """Return what kubectl calls a pod, and the pod without its container."""
    beside, _, container = address.text.partition(":")
    namespace, _, pod = beside.rpartition("/")
    own = f"{pod} --namespace={namespace}" if namespace else pod
    return {"pod": own, "beside": beside, "container": container or "CONTAINER"}


def _last_lines(output: str) -> str:
    lines = [one.strip()[:_LINE_MAX] for one in output.splitlines() if one.strip()]
    return " / ".join(lines[-_LINES_MAX:])


def missing_tool(kind: HostKind, tool: str, reason: OSError) -> DebuggerError:
    """Return the error for a tool that is not installed here, or cannot be run."""
    packages = {
        HostKind.SSH: "apt install openssh-client",
        HostKind.CONTAINER: "install docker or podman",
        HostKind.POD: "install kubectl",
    }
    return DebuggerError(
        ErrorCode.ADAPTER_NOT_FOUND,
        f"{tool} is not installed here"
        if isinstance(reason, FileNotFoundError)
        else f"{tool} cannot be run: {reason.strerror}",
        hint=f"{packages[kind]}; debugger config --path is where [hosts] names another command",
    )
