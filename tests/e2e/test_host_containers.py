"""Sessions in containers and pods, by tools that play docker, podman and kubectl."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_commands import Cli, answer_data, resolve_program
from ssh_hosts import find_processes

FAKES = Path(__file__).parent.parent / "fakes"
pytestmark = pytest.mark.adapter("debugpy")


@pytest.fixture(scope="module")
def container() -> Iterator[Path]:
    """Make the home of a container without a debugger, and the tools that reach it."""
    home = Path(tempfile.mkdtemp(prefix="dbgc-", dir="/tmp"))
    tools = home / "bin"
    tools.mkdir()
    source = (FAKES / "exec_tool.py").read_text()
    for name in ("docker", "podman", "kubectl"):
        (tools / name).write_text(f"#!{sys.executable}\n{source}")
    inside = home / "inside"
    inside.mkdir()
    shutil.copy(FAKES / "container_python.sh", inside / "python3")
    for one in (*tools.iterdir(), *inside.iterdir()):
        one.chmod(0o755)
    env = {
        "HOME": str(home),
        "PATH": f"{inside}:/usr/bin:/bin",
        "DEBUGGER_RUNTIME_DIR": str(home / "run"),
        "DEBUGGER_CONFIG": str(home / "config.toml"),
        "REAL_PYTHON": sys.executable,
        **({"PYTHONPATH": path} if (path := os.environ.get("PYTHONPATH")) else {}),
    }
    containers = {"box": "running", "old": "exited", "held": "paused"}
    facts = {"env": env, "containers": containers, "pods": ["shop/web-0"]}
    (tools / "container.json").write_text(json.dumps(facts))
    yield home
    shutil.rmtree(home)


@pytest.fixture
def at_tools(shared_cli: Cli, container: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    monkeypatch.setenv("PATH", f"{container / 'bin'}:{os.environ['PATH']}")
    yield shared_cli
    shared_cli("daemon", "stop")


def test_the_debugger_is_put_into_a_container_and_debugs_there(
    at_tools: Cli, container: Path
) -> None:
    program = resolve_program("loop.py")
    missing = at_tools("start", "--container", "box", program)
    assert missing.err.startswith("error: box has no debugger\n")
    assert "hint: debugger setup --container box --yes" in missing.err
    assert "would install debugger" in at_tools("setup", "--container", "box", check=0).out
    assert not (container / "pip.log").exists()
    done = at_tools("setup", "--container", "box", "--yes", check=0).out
    assert done.startswith("box: debugger ")
    assert "install" in (container / "pip.log").read_text()
    stop = answer_data(
        at_tools("--json", "start", "--container", "box", program, "--stop-on-entry", check=0)
    )
    assert stop["session"] == "loop@box"
    assert at_tools("next", check=0).out.startswith("stopped: step")
    busy = at_tools("setup", "--container", "box", "--yes")
    assert "error: box has live sessions: loop@box" in busy.err
    at_tools("stop", check=0)
    answer = at_tools("start", "--pod", "shop/web-0:app", program, "--stop-on-entry", check=0)
    assert answer.out.startswith("stopped")
    assert at_tools("sessions", check=0).out.startswith("* loop@web-0: stopped")
    at_tools("daemon", "stop", check=0)
    assert find_processes("DEBUGGER_RUNTIME_DIR", str(container / "run")) == []


def test_a_failed_installation_leaves_the_one_before(at_tools: Cli, container: Path) -> None:
    own = container / ".local/share/debugger-cli"
    at_tools("setup", "--container", "box", "--yes", check=0)
    before = (own / "host/bin/debugger").read_text()
    (container / "no-index").touch()
    try:
        # This machine's pip has no index either.
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
        failed = at_tools("setup", "--container", "box", "--yes", env=offline)
    finally:
        (container / "no-index").unlink()
    assert failed.err.startswith("error: box: pip could not install the debugger: ERROR: Could not")
    assert (own / "host/bin/debugger").read_text() == before
    assert [one.name for one in own.iterdir()] == ["host"]


def test_podman_does_not_say_whether_a_container_is_paused(at_tools: Cli, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[hosts]\ncontainer = "podman"\n')
    for name in ("old", "held"):
        answer = at_tools(
            "start", "--container", name, "x.py", env={"DEBUGGER_CONFIG": str(config)}
        )
        assert f"error: the container {name} does not run, or is paused\n" in answer.err
        assert f"hint: podman start {name}, or podman unpause {name}" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--container", "none"), "no container none"),
        (("--container", "old"), "the container old does not run"),
        (("--container", "held"), "the container held is paused"),
        (("--pod", "shop/other"), "no pod shop/other"),
        (("--pod", "shop/web-0:side"), "the pod shop/web-0:side has no container side"),
        (("--container", "-x"), "not a container: '-x'"),
        (("--container", "box", "--pod", "shop/web-0"), "exclude each other"),
    ],
)
def test_what_the_tools_refuse_is_an_error_with_a_hint(
    at_tools: Cli, words: tuple[str, ...], message: str
) -> None:
    answer = at_tools("--json", "start", *words, "x.py")
    assert message in answer.data["error"]["message"]
    assert answer.data["error"]["hint"]
