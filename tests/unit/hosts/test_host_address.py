"""Names of hosts, containers and pods, and the commands that reach them."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import (
    HOSTS_MAX,
    HostTools,
    build_host_command,
    parse_addresses,
    split_pids,
)
from debugger.hosts.host_failures import explain_host_failure
from debugger.hosts.host_scripts import FIND_DEBUGGER

TOOLS = HostTools()


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("h1", ["h1"]),
        ("user@h1,h2", ["h1", "h2"]),
        ("ssh://user@h1:2222", ["h1"]),
        ("a@h1,b@h1", ["h1", "b-h1"]),
        ("10.0.0.1,[fe80::1%eth0],::2", ["10.0.0.1", "fe80-1-eth0", "2"]),
        ("h1,h1", ["h1"]),
    ],
)
def test_hosts_have_short_labels_that_differ(text: str, labels: list[str]) -> None:
    assert [one.label for one in parse_addresses(text, None, None)] == labels


@pytest.mark.parametrize(
    "text",
    [
        *("-oProxyCommand=touch /tmp/x", "user@-x", "-x@h", "h1;id", "$(id)", "h 1", "", "h1,"),
        *("h1\nh2", "`id`", "h|id", "a@b@c", "x" * 300, "0.0.0.0", "::", "*", "ssh://", "é"),
        ",".join(f"h{number}" for number in range(HOSTS_MAX + 1)),
    ],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(DebuggerError) as caught:
        parse_addresses(text, None, None)
    assert caught.value.code is ErrorCode.USAGE
    assert caught.value.hint


@pytest.mark.parametrize(
    ("container", "pod"),
    [("-it", None), ("a b", None), ("a;b", None), (None, "-x"), (None, "ns/-x"), (None, "a/b/c"),
     (None, "ns/x:"), (None, "NS/x"), ("", None), (None, "")],
)  # fmt: skip
def test_what_is_no_container_or_pod_is_refused(container: str | None, pod: str | None) -> None:
    with pytest.raises(DebuggerError):
        parse_addresses(None, container, pod)


def test_one_way_is_named() -> None:
    with pytest.raises(DebuggerError, match="exclude each other"):
        parse_addresses("h1", "box", None)
    assert parse_addresses(None, None, None) == ()


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=4))
def test_words_come_through_the_remote_shell_as_they_are(words: list[str]) -> None:
    (address,) = parse_addresses("h1", None, None)
    command = build_host_command(address, TOOLS, "x", words)
    assert command[-3:-1] == ["--", "h1"]
    assert shlex.split(command[-1]) == ["sh", "-c", "x", "debugger", *words]


def test_a_real_shell_reads_the_script_and_its_words() -> None:
    (address,) = parse_addresses("h1", None, None)
    nasty = ["a b", "$(id)", "'\"", "`id`", "*", "\n", "-x", "!!"]
    text = build_host_command(address, TOOLS, 'printf "%s|" "$@"', nasty)[-1]
    ran = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout == "".join(f"{one}|" for one in nasty)


def test_containers_and_pods_take_the_words_without_a_shell() -> None:
    (box,) = parse_addresses(None, "0123456789abcdef0123", None)
    assert box.label == "0123456789ab"
    found = build_host_command(box, HostTools(container=("podman",)), "s", ["w"])
    assert found == ["podman", "exec", "-i", box.text, "sh", "-c", "s", "debugger", "w"]
    (pod,) = parse_addresses(None, None, "ns/web-0:app")
    assert build_host_command(pod, TOOLS, "s", [])[:7] == [
        *("kubectl", "exec", "-i", "--namespace=ns", "web-0", "--container=app", "--"),
    ]
    (plain,) = parse_addresses(None, None, "web-0")
    assert build_host_command(plain, TOOLS, "s", [])[:5] == ["kubectl", "exec", "-i", "web-0", "--"]


def test_the_installed_debugger_comes_before_one_on_the_path(tmp_path: object) -> None:
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        ["sh", "-c", FIND_DEBUGGER], env=env, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (127, "debugger: not installed\n")


# What OpenSSH 9.2, docker 28, podman 5 and kubectl 1.32 write.
SAID = [
    ("h", "ssh: Could not resolve hostname h: Name or service not known", 255, "no such host"),
    ("h", "ssh: connect to host h port 22: Connection refused", 255, "connection was refused"),
    ("h", "ssh: connect to host h port 22: Connection timed out", 255, "no answer to ssh in time"),
    ("h", "ssh: connect to host h port 22: No route to host", 255, "not reached from here"),
    ("h", "root@h: Permission denied (publickey,password).", 255, "(it takes publickey,password)"),
    ("h", "Host key verification failed.", 255, "host key is not known"),
    ("h", "Received disconnect from h port 22:2: Too many authentication failures", 255, "many"),
    ("h", "debugger: not installed", 127, "h has no debugger"),
    ("h", "sh: cannot create x: No space left on device", 1, "its disk is full"),
    ("h", "mkdir: cannot create directory: Read-only file system", 1, "read-only"),
    ("h", "kex_exchange_identification: read: Connection reset by peer", 255, "was not reached: k"),
    ("h", ("channel 0: open failed: connect failed: No route to host\nstdio forwarding failed\n"
     "Connection closed by UNKNOWN port 65535"), 255, "jump host does not reach it: No route"),
    ("h", ("me@gate: Permission denied (publickey).\nConnection closed by UNKNOWN port 65535"), 255,
     "its jump host: no login"),
    ("box", "Error response from daemon: No such container: box", 1, "no container box"),
    ("box", 'Error: no container with name or ID "box" found: no such container', 125, "no cont"),
    ("box", "Error response from daemon: container 12 is not running", 1, "does not run"),
    ("box", "Error: can only create exec sessions on running containers: container state improper",
     255, "does not run"),
    ("box", "Error response from daemon: Container box is paused, unpause it",
     1, "is paused"),
    ("box", ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker "
     "daemon running?"), 1, "does not run here"),
    ("box", ('OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": '
     "executable file not found in $PATH: unknown"), 127, "has no shell"),
    ("pod", 'Error from server (NotFound): pods "web" not found', 1, "no pod ns/web"),
    ("pod", 'Error from server (NotFound): namespaces "ns" not found', 1, "no namespace ns"),
    ("pod", "error: container nope is not valid for pod web", 1, "no container nope"),
    ("pod", ("error: Internal error occurred: unable to upgrade connection: container not found "
     '("app")'), 1, "does not run"),
    ("pod", ('Error from server (Forbidden): pods "web" is forbidden: User "me" cannot create '
     'resource "pods/exec"'), 1, "may not execute"),
    ("pod", ("The connection to the server localhost:8080 was refused - did you specify the right "
     "host or port?"), 1, "no cluster"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "output", "status", "message"), SAID)
def test_what_a_tool_writes_is_explained(kind: str, output: str, status: int, message: str) -> None:
    ways = {"h": ("h", None, None), "box": (None, "box", None), "pod": (None, None, "ns/web")}
    (address,) = parse_addresses(*ways[kind])
    error = explain_host_failure(address, status, f"{output}\n")
    assert message in error.message
    assert error.hint
    assert "{" not in error.message + error.hint


@pytest.mark.parametrize(
    ("way", "is_setup", "hint"),
    [
        ((None, None, "ns/web:app"), True, ("kubectl debug web --namespace=ns --image=python:3.13 "
         "--target=app --container=debugger")),
        ((None, None, "web"), False, "kubectl debug web --image=python:3.13 --target=CONTAINER "),
        ((None, None, "ns/web"), False, "then debugger setup --pod ns/web:debugger --yes"),
        ((None, "box", None), True, "--pid=container:box --cap-add=SYS_PTRACE"),
    ],
)  # fmt: skip
def test_an_image_without_python_gets_a_container_beside_it(
    way: tuple[str | None, str | None, str | None], is_setup: bool, hint: str
) -> None:
    (address,) = parse_addresses(*way)
    says = "debugger-setup: no-python" if is_setup else 'exec: "sh": executable file not found in'
    error = explain_host_failure(address, 1 if is_setup else 127, says, is_setup=is_setup)
    assert hint in (error.hint or "")


def test_processes_are_named_with_their_hosts() -> None:
    addresses = parse_addresses("h1,me@h2", None, None)
    assert split_pids("7,8", addresses) == {"h1": "7,8", "h2": "7,8"}
    assert split_pids("h1:7, me@h2:8,h1:9", addresses) == {"h1": "7,9", "h2": "8"}
    for text in ("h3:7", "7,h1:8", "h1:"):
        with pytest.raises(DebuggerError, match="--pids"):
            split_pids(text, addresses)
