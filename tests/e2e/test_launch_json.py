"""`start --config` starts what a project's launch.json names."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data
from debuggees import find_source
from editor_client import open_editor
from mcp_client import connect_stdio
from running_programs import run_program

PROGRAM = """\
import os, sys
print(sys.argv[1:], os.environ.get("FROM_FILE"), os.environ.get("OWN"), __debug__, os.getcwd())
"""
CONFIGURATIONS = """\
{
  // what the editor has
  "configurations": [
    {
      "name": "App: all",
      "type": "debugpy",
      "request": "launch",
      "program": "${workspaceFolder}/src/app.py",
      "args": ["--port", "${env:PORT}"],
      "cwd": "${workspaceFolder}/src",
      "env": {"OWN": "mine"},
      "envFile": "${workspaceFolder}/.env",
      "pythonArgs": ["-O"],
      "console": "integratedTerminal",
    },
    {"name": "This file", "type": "python", "request": "launch", "program": "${file}"},
    {"name": "Running", "type": "debugpy", "request": "attach", "processId": "${env:RUNNING}"},
    {"name": "Join", "type": "debugger", "request": "attach", "session": "other"},
    {"name": "Code", "type": "debugpy", "request": "launch", "program": "x.py", "pythonArgs": "-Q"},
    {"name": "Missing", "type": "debugpy", "request": "launch", "program": "x.py", "envFile": "no"},
  ],
  "compounds": [{"name": "Both", "configurations": ["App: all", "Running"]}],
}
"""

Cli = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text(CONFIGURATIONS)
    (tmp_path / ".env").write_text("FROM_FILE='a b'\nOWN=file\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text(PROGRAM)
    (tmp_path / "x.py").write_text("x = 1\n")
    return tmp_path


def _printed(answer: Any) -> list[str]:
    return [one["text"] for one in answer_data(answer)["output"] if one["stream"] == "stdout"]


def test_a_configuration_starts_with_all_that_it_names(project: Path, cli: Cli):
    src = project / "src"
    ran = cli("--json", "start", "--config", "app: ALL", cwd=src, env={"PORT": "7"}, check=0)
    assert _printed(ran) == [f"['--port', '7'] a b mine False {src}"]
    assert answer_data(ran)["notes"] == [
        "no terminal is opened; debugger input writes to the program"
    ]


def test_what_is_typed_comes_on_top(project: Path, cli: Cli):
    words = ("--env", "OWN=typed", "--cwd", ".", "--break", "src/app.py:2", "--", "-v", "x y")
    stop = cli("--json", "start", "--config", "App: all", *words, cwd=project, check=0)
    assert answer_data(stop)["frame"]["line"] == 2
    ran = cli("--json", "continue", cwd=project, check=0)
    assert _printed(ran) == [f"['-v', 'x y'] a b typed False {project}"]


def test_a_configuration_for_the_present_file_takes_the_program(project: Path, cli: Cli):
    refused = cli("start", "--config", "This file", cwd=project, check=2)
    hint = refused.err.partition("hint: debugger ")[2].strip()
    words = shlex.split(hint.replace("FILE", "src/app.py"))
    assert _printed(cli("--json", *words, "--", "a", cwd=project, check=0))[0].startswith("['a']")


def test_a_missing_env_file_is_noted(project: Path, cli: Cli):
    ran = cli("--json", "start", "--config", "Missing", cwd=project, check=0)
    assert answer_data(ran)["notes"] == [f"no envFile: {project}/no"]


def test_a_configuration_attaches(project: Path, cli: Cli):
    with run_program(sys.executable, find_source("endless.py")) as process:
        env = {"RUNNING": str(process.pid)}
        refused = cli("start", "--config", "Running", "--", "a", cwd=project, env=env, check=2)
        assert "takes no arguments" in refused.err
        cli("start", "--config", "Running", "--stop-on-entry", cwd=project, env=env, check=0)
        status = answer_data(cli("--json", "status", check=0))
        assert (status["pid"], status["state"]) == (process.pid, "stopped")
        cli("detach", check=0)


def test_a_compound_starts_as_one_group(project: Path, cli: Cli):
    with run_program(sys.executable, find_source("endless.py")) as process:
        env = {"RUNNING": str(process.pid), "PORT": "7"}
        words = ("start", "--config", "Both", "--break", "src/app.py:2")
        stop = answer_data(cli("--json", *words, cwd=project, env=env, check=0))
        assert (stop["group"], stop["member"]) == ("Both", "App:_all")
        assert "App: all: no terminal is opened" in stop["stop"]["notes"][0]
        members = answer_data(cli("--json", "status", check=0))["members"]
        assert {one["label"]: one["state"] for one in members} == {
            "App:_all": "stopped",
            "Running": "running",
        }
        ended = cli("stop", check=0).out
        assert "they were attached to, and run on" in ended
        assert process.poll() is None


def test_the_list_and_the_hints_lead_on(project: Path, cli: Cli):
    text = cli("start", "--list-configs", cwd=project, env={"RUNNING": "1"}, check=0).out
    assert '"This file" → start FILE --config "This file"\n' in text
    assert '"Both" → start --config "Both" (one group: App: all, Running)\n' in text
    listed = answer_data(cli("--json", "start", "--list-configs", cwd=project, check=0))
    assert [one["name"] for one in listed["configurations"]][-2:] == ["Missing", "Both"]
    near = cli("start", "--config", "Misssing", cwd=project, check=1)
    words = shlex.split(near.err.partition("hint: debugger ")[2].strip())
    cli(*words, cwd=project, check=0)
    given = cli("start", "--config", "Both", "x.py", cwd=project, check=2)
    assert "it takes no program and no arguments" in given.err
    assert "-m" in cli("start", "-m", "app", "--config", "Missing", cwd=project, check=2).err
    code = cli("start", "--config", "Code", cwd=project, check=2).err
    assert "hint: debugger start --list-configs" in code
    assert "debugger use other" in cli("start", "--config", "Join", cwd=project, check=2).err
    nowhere = project.parent
    assert "no .vscode/launch.json" in cli("start", "--list-configs", cwd=nowhere, check=1).err


def test_the_completion_lists_the_names(project: Path, cli: Cli):
    listed = cli("completion", "configs", cwd=project, check=0).out.splitlines()
    assert listed == ["App: all", "This file", "Running", "Join", "Code", "Missing", "Both"]
    assert cli("completion", "configs", cwd=project.parent, check=0).out == ""


def test_an_editor_launches_by_the_name(project: Path, runtime_dir: Path):
    with open_editor(runtime_dir, cwd=project) as editor:
        launched = editor.send("launch", config="Missing")
        editor.event("initialized")
        editor.set_lines(str(project / "x.py"), 1)
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        assert editor.top_frame(editor.event("stopped")["threadId"])["line"] == 1
        editor.ask("disconnect")
    with open_editor(runtime_dir, cwd=project) as editor:
        assert "no configuration" in editor.refused("launch", config="Missed")
        editor.ask("disconnect")


async def test_an_agent_launches_by_the_name(project: Path, runtime_dir: Path):
    async with connect_stdio(env={"DEBUGGER_RUNTIME_DIR": str(runtime_dir)}, cwd=project) as agent:
        answer = await agent.call("debug_launch", config="Missing", breakpoints=["x.py:1"])
        assert (answer.data["status"], answer.data["line"]) == ("paused", 1)
        assert "no configuration" in await agent.refused("debug_launch", config="Missed")
