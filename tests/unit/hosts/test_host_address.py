"""Names of hosts, containers and pods, and the commands that reach them."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import (
    HOSTS_MAX,
    HostTools,
    build_host_command,
    own_address,
    parse_addresses,
    split_pids,
)
from debugger.hosts.host_failures import explain_host_failure, silent_host_error
from debugger.hosts.host_scripts import FIND_DEBUGGER, INSTALL_DEBUGGER

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
    ("h", "root@h: Permission denied (publickey).", 255, "none of your keys is taken"),
    ("h", "Host key verification failed.", 255, "host key is not known"),
    ("h", "Received disconnect from h port 22:2: Too many authentication failures", 255, "many"),
    ("h", "debugger: not installed", 127, "h has no debugger"),
    ("h", "sh: cannot create x: No space left on device", 1, "its disk is full"),
    ("h", "mkdir: cannot create directory: Read-only file system", 1, "read-only"),
    ("h", "kex_exchange_identification: read: Connection reset by peer", 255, "was not reached: k"),
    ("h", ("channel 0: open failed: connect failed: No route to host\nstdio forwarding failed\n"
     "Connection closed by UNKNOWN port 65535"), 255, "jump host does not reach it: No route"),
    ("h", ("me@gate: Permission denied (publickey).\nConnection closed by UNKNOWN port 65535"), 255,
     "its jump host: none of your keys"),
    ("box", "Error response from daemon: No such container: box", 1, "no container box"),
    ("box", 'Error: no container with name or ID "box" found: no such container', 125, "no cont"),
    ("box", "Error response from daemon: container 12 is not running", 1, "does not run"),
    ("box", "Error: can only create exec sessions on running containers: container state improper",
     255, "does not run, or is paused"),
    ("box", "Error response from daemon: Container box is paused, unpause it",
     1, "is paused"),
    ("box", ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker "
     "daemon running?"), 1, "does not run here"),
    ("box", ('OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": '
     "executable file not found in $PATH: unknown"), 127, "has no shell"),
    ("pod", 'Error from server (NotFound): pods "web" not found', 1, "no pod ns/web"),
    ("pod", 'Error from server (NotFound): namespaces "ns" not found', 1, "no namespace ns"),
    ("pod", "Error from server (BadRequest): container nope is not valid for pod web", 1,
     "no container nope"),
    ("pod", "Error from server (BadRequest): pod web does not have a host assigned", 1,
     "does not run"),
    ("pod", "error: cannot exec into a container in a completed pod; current phase is Succeeded",
     1, "does not run"),
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


CHANGED_KEY = """\
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
Offending ED25519 key in /home/me/.ssh/known_hosts:3
Host key for [10.0.0.1]:2222 has changed and you have requested strict checking.
Host key verification failed.
"""
CHANGED_KEY_HINT = (
    "ssh-keygen -f /home/me/.ssh/known_hosts -R '[10.0.0.1]:2222' forgets the known key"
)
# What ssh says, and the beginning of a hint that works with the configured command.
HINTS = [
    ("h1", "Connection refused", "ssh -F my_config h1 must work; ssh://h1:PORT names another"),
    ("ssh://me@h1:22", "Connection refused", "ssh -F my_config ssh://me@h1:22 must work; ssh://me@h1:"),
    ("me@h1:22", "Permission denied (publickey,password)", "ssh-copy-id -F my_config -p 22 me@h1 "),
    ("h1", "Permission denied (publickey)", "ssh -F my_config -v h1 true shows which keys"),
    ("h1", "Host key verification failed.", "ssh -F my_config -o StrictHostKeyChecking=ask h1"),
    ("h1", CHANGED_KEY, CHANGED_KEY_HINT),
    ("h1", "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!", "ssh-keygen -R h1 forgets"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "said", "hint"), HINTS)
def test_a_hint_names_the_configured_ssh_and_the_host_as_it_takes_it(
    host: str, said: str, hint: str
) -> None:
    (address,) = parse_addresses(host, None, None)
    tools = HostTools(ssh=("ssh", "-F", "my_config"))
    error = explain_host_failure(address, 255, said, tools=tools)
    assert (error.hint or "").startswith(hint)
    command = build_host_command(address, tools, "x", [])
    assert command[-2] == ("h1" if host == "h1" else f"ssh://{host.removeprefix('ssh://')}")


def test_a_connection_that_was_killed_is_no_host_that_was_not_reached() -> None:
    (address,) = parse_addresses("h1", None, None)
    error = explain_host_failure(address, -9, "", is_setup=True)
    assert error.message == "h1: the connection ended: ssh was ended by SIGKILL"
    assert error.hint == "debugger setup --host h1 --yes begins again"


def test_what_a_host_does_not_say_is_asked_with_the_tool_that_reaches_it() -> None:
    (box,) = parse_addresses(None, "box", None)
    tools = HostTools(container=("podman",))
    assert (silent_host_error(box, tools, 40.0).hint or "").startswith("podman exec box true must")
    (pod,) = parse_addresses(None, None, "ns/web:app")
    hint = silent_host_error(pod, tools, 40.0).hint or ""
    assert hint.startswith("kubectl exec web --namespace=ns -- true must work")
    error = explain_host_failure(box, 1, "No such container: box", tools=tools)
    assert error.hint == "podman ps lists those that run"


@pytest.mark.parametrize(
    ("hint", "there"),
    [
        ("debugger setup delve --yes", "debugger setup --host h1 delve --yes"),
        ("debugger daemon logs; make room", "debugger daemon logs --host h1; make room"),
        ("debugger start PROGRAM begins one", "debugger start --host h1 PROGRAM begins one"),
        ("debugger crash -- ./program", "debugger crash --host h1 -- ./program"),
        ("debugger probe --at X E -- CMD", "debugger probe --host h1 --at X E -- CMD"),
        ("debugger locals lists what is here", "debugger locals lists what is here"),
        ("debugger doctor --host h2 asks again", "debugger doctor --host h2 asks again"),
        ("debugger evidence show e1", "debugger evidence show --host h1 e1"),
        ("as root: sudo debugger attach 7", "as root: debugger attach --host root@h1 7"),
    ],
)
def test_a_hint_of_a_host_names_it_where_the_command_would_act_here(hint: str, there: str) -> None:
    (address,) = parse_addresses("h1", None, None)
    assert address.add_to_commands(hint) == there
    assert address.add_to_commands({"fix": [hint], "n": 1}) == {"fix": [there], "n": 1}
    assert own_address("me").add_to_commands(hint) == hint


def test_an_installation_that_is_not_read_to_its_end_leaves_nothing(tmp_path: Path) -> None:
    base = tmp_path / "debugger-cli"
    old = base / "setup.killed"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    (base / "setup.young").mkdir()
    env = {"XDG_DATA_HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    receiver, sender = os.pipe()
    os.close(receiver)  # as of a connection that has ended
    wheels = io.BytesIO()
    tarfile.open(fileobj=wheels, mode="w").close()
    words = ["sh", "-c", INSTALL_DEBUGGER, "debugger", "no-such-project==1", "offline"]
    try:
        ran = subprocess.run(
            words, env=env, input=wheels.getvalue(), stdout=sender, stderr=sender, check=False
        )
    finally:
        os.close(sender)
    assert ran.returncode != 0
    assert [one.name for one in base.iterdir()] == ["setup.young"]


def test_processes_are_named_with_their_hosts() -> None:
    addresses = parse_addresses("h1,me@h2", None, None)
    assert split_pids("7,8", addresses) == {"h1": "7,8", "h2": "7,8"}
    assert split_pids("h1:7, me@h2:8,h1:9", addresses) == {"h1": "7,9", "h2": "8"}
    for text in ("h3:7", "7,h1:8", "h1:"):
        with pytest.raises(DebuggerError, match="--pids"):
            split_pids(text, addresses)
