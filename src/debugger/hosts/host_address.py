"""Names hosts, containers and pods, and the commands that reach them. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode

HOSTS_MAX = 32  # that one command reaches
_NAME_MAX = 255
# What a host, a container, a namespace or a pod may be called: no blank, no character of a shell,
# and no dash in front, which would make it an option.
_USER = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_HOST = re.compile(
    rf"(?:ssh://)?(?:(?P<user>{_USER})@)?"
    r"(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)"
    r"(?P<port>:\d{1,5})?",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_POD = re.compile(
    r"(?:(?P<namespace>[a-z0-9][a-z0-9.-]*)/)?(?P<pod>[a-z0-9][a-z0-9.-]*)"
    r"(?::(?P<container>[a-z0-9][a-z0-9.-]*))?",
    re.ASCII,
)
# Where a server listens: a program's own option, not a machine to debug on.
_LISTENING = frozenset({"0.0.0.0", "::", "[::]", "*"})  # noqa: S104 - refused
# Commands that act on this machine unless they name a host, and those that start a program.
_LOCAL_COMMANDS = re.compile(
    r"\bdebugger (?:(?:daemon|evidence|runs) [a-z-]+|(?:start|attach|config|doctor|setup)\b"
    r"|[a-z-]+(?=(?: [^;]*)? -- ))(?![^;]* --(?:host|container|pod)\b)"
)
# What needs root here needs root's login there.
_AS_ROOT = re.compile(r"\bsudo (debugger [a-z-]+)")
_SHORT_ID = 12  # characters of a container's id that docker itself shows

# `BatchMode` makes ssh fail where it would ask; `ServerAlive` ends a connection that is dead. What
# a configuration starts or forwards for a person would stand in the way.
SSH_OPTIONS = (
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"),
    *("-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes"),
)


class HostKind(Enum):
    """How a host is reached."""

    SSH = "ssh"
    CONTAINER = "container"
    POD = "pod"
    OWN = "own"  # this machine, as a part of a group that reaches others, too


_FLAGS = {HostKind.SSH: "--host", HostKind.CONTAINER: "--container", HostKind.POD: "--pod"}


class HostAddress(Struct, frozen=True):
    """A host, a container or a pod."""

    kind: HostKind
    text: str  # as the user named it
    label: str  # its short name in answers

    @property
    def destination(self) -> str:
        """The host as ssh takes it: a port makes it a URL."""
        has_port = self.split_destination()[2] != ""
        return f"ssh://{self.text.removeprefix('ssh://')}" if has_port else self.text

    def split_destination(self) -> tuple[str, str, str]:
        """Return the user, the host and the port; what is not named is empty."""
        found = _HOST.fullmatch(self.text)
        if found is None:
            return "", self.text, ""
        return found["user"] or "", found["host"], (found["port"] or "").removeprefix(":")

    def _root_login(self) -> str:
        _, host, port = self.split_destination()
        return shlex.quote(f"root@{host}:{port}" if port else f"root@{host}")

    def add_to_commands(self, value: Any) -> Any:
        """Return a host's text, or plain values, with its name in the commands that need it."""
        if self.kind is HostKind.OWN:
            return value
        if isinstance(value, str):
            option = f"{_FLAGS[self.kind]} {shlex.quote(self.text)}"
            if self.kind is HostKind.SSH:
                value = _AS_ROOT.sub(lambda found: f"{found[1]} --host {self._root_login()}", value)
            return _LOCAL_COMMANDS.sub(lambda found: f"{found[0]} {option}", value)
        if isinstance(value, list | tuple):
            return [self.add_to_commands(one) for one in value]
        if isinstance(value, dict):
            return {name: self.add_to_commands(one) for name, one in value.items()}
        return value

    def write_command(self, words: str, *behind: str) -> str:
        """Return a command of ours at this host, as a user types it."""
        if self.kind is HostKind.OWN:
            return " ".join(("debugger", words, *behind))
        own = (words, _FLAGS[self.kind], shlex.quote(self.text), *behind)
        return f"debugger {' '.join(own)}"


class HostTools(Struct, frozen=True):
    """The commands that reach hosts."""

    ssh: tuple[str, ...] = ("ssh",)
    container: tuple[str, ...] = ("docker",)
    kubectl: tuple[str, ...] = ("kubectl",)

    def for_kind(self, kind: HostKind) -> tuple[str, ...]:
        """Return the command that reaches a kind of host."""
        ways = {HostKind.SSH: self.ssh, HostKind.CONTAINER: self.container}
        return ways.get(kind, self.kubectl)


def parse_addresses(
    hosts: str | None, container: str | None, pod: str | None
) -> tuple[HostAddress, ...]:
    """Return the hosts that a command names; nothing without an option.

    Raises:
        DebuggerError: USAGE for a name that can be none, for too many, and for several options.
    """
    given = [one for one in (hosts, container, pod) if one is not None]
    if len(given) > 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--host, --container and --pod exclude each other",
            hint="debugger start --host user@server ./app",
        )
    if container is not None:
        return (_parse_container(container),)
    if pod is not None:
        return (_parse_pod(pod),)
    if hosts is None:
        return ()
    names = list(dict.fromkeys(one.strip() for one in hosts.split(",")))
    if len(names) > HOSTS_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--host names {len(names)} hosts; a command reaches {HOSTS_MAX}",
            hint="--host h1,h2",
        )
    return _with_unique_labels([_parse_host(one) for one in names])


def own_address(node: str) -> HostAddress:
    """Return the address of this machine; `node` is its name in the network."""
    return HostAddress(HostKind.OWN, "localhost", _clean_label(node.partition(".")[0]))


def split_pids(text: str, hosts: Sequence[HostAddress]) -> dict[str, str]:
    """Return the processes of each host, by its label: `1,2` of every one, or `h1:1,h2:2`.

    Raises:
        DebuggerError: USAGE for another host, and where only some have theirs.
    """
    words = [one.strip() for one in text.split(",")]
    if not any(":" in one for one in words):
        return {one.label: text for one in hosts}
    labels = {name: one.label for one in hosts for name in (one.label, one.text)}
    found: dict[str, list[str]] = {}
    for word in words:
        host, _, pid = word.rpartition(":")
        if host not in labels or not pid:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--pids: {word!r} names no process of {', '.join(one.text for one in hosts)}",
                hint=f"--pids {hosts[0].text}:PID,{hosts[-1].text}:PID",
            )
        found.setdefault(labels[host], []).append(pid)
    return {label: ",".join(pids) for label, pids in found.items()}


def _parse_host(text: str) -> HostAddress:
    found = _HOST.fullmatch(text)
    if text in _LISTENING or found is None or len(text) > _NAME_MAX:
        why = (
            f"{text} is where a server listens; what belongs to the program goes after --"
            if text in _LISTENING
            else f"not a host: {text[:_NAME_MAX]!r}"
        )
        raise DebuggerError(ErrorCode.USAGE, why, hint="debugger start --host user@server ./app")
    return HostAddress(HostKind.SSH, text, _clean_label(found["host"]))


def _parse_container(text: str) -> HostAddress:
    if _NAME.fullmatch(text) is None or len(text) > _NAME_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"not a container: {text[:_NAME_MAX]!r}",
            hint="debugger start --container ID ./app; docker ps lists them",
        )
    is_id = re.fullmatch(r"[0-9a-f]{13,64}", text) is not None
    return HostAddress(HostKind.CONTAINER, text, text[:_SHORT_ID] if is_id else text)


def _parse_pod(text: str) -> HostAddress:
    found = _POD.fullmatch(text)
    if found is None or len(text) > _NAME_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"not a pod: {text[:_NAME_MAX]!r}",
            hint="debugger start --pod NAMESPACE/NAME[:CONTAINER] ./app; kubectl get pods -A",
        )
    return HostAddress(HostKind.POD, text, found["pod"])


def _clean_label(host: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", host).strip("-") or "host"


def _with_unique_labels(hosts: Sequence[HostAddress]) -> tuple[HostAddress, ...]:
    """Give hosts of the same name, as of two users, labels that differ."""
    found: list[HostAddress] = []
    taken: set[str] = set()
    for one in hosts:
        label = one.label
        if label in taken:
            label = _clean_label(one.text)
        if label in taken:
            raise DebuggerError(
                ErrorCode.USAGE, f"--host names {one.text} twice", hint="--host h1,h2"
            )
        taken.add(label)
        found.append(HostAddress(one.kind, one.text, label))
    return tuple(found)


def build_host_command(
    address: HostAddress, tools: HostTools, script: str, words: Sequence[str]
) -> list[str]:
    """Return the command that runs a POSIX shell script at a host, with `words` as $1, $2, ….

    ssh hands one text to the login shell of the other side, whichever that is: each word of it is
    quoted. The others take the words as they are.
    """
    remote = ["sh", "-c", script, "debugger", *words]
    tool = list(tools.for_kind(address.kind))
    if address.kind is HostKind.SSH:
        return [*tool, *SSH_OPTIONS, "--", address.destination, shlex.join(remote)]
    if address.kind is HostKind.CONTAINER:
        return [*tool, "exec", "-i", address.text, *remote]
    found = _POD.fullmatch(address.text)
    assert found is not None
    own = [f"--namespace={found['namespace']}"] if found["namespace"] else []
    inside = [f"--container={found['container']}"] if found["container"] else []
    return [*tool, "exec", "-i", *own, found["pod"], *inside, "--", *remote]
