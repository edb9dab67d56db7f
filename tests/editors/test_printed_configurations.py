"""What `debugger dap --print` writes is read as each editor reads it, and joins a session."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import lupa
import pytest
import sexpdata

import debuggees
from debugger.cli.editor_configurations import EDITORS
from editor_client import open_editor

README = Path(__file__).parents[2] / "README.md"
LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")
NAME = "Join the agent's session"
PORT = 4711
DAP = {"command": "debugger", "args": ["dap"]}
# nvim-dap's module, as far as a configuration needs it.
NVIM_DAP = "package.preload.dap = function() return {adapters = {}, configurations = {}} end"

Cli = Callable[..., Any]


def read_commented(text: str) -> Any:
    return json.loads(re.sub(r"^//.*$", "", text, flags=re.MULTILINE))


def read_vscode(text: str) -> dict[str, Any]:
    (found,) = read_commented(text)["configurations"]
    assert (found["name"], found["debugServer"]) == (NAME, PORT)
    return dict(found)


def read_zed(text: str) -> dict[str, Any]:
    (found,) = read_commented(text)
    assert found["label"] == NAME
    assert found["tcp_connection"] == {"host": "127.0.0.1", "port": PORT}
    # Zed keeps these to itself.
    return {name: found[name] for name in set(found) - {"label", "adapter", "tcp_connection"}}


def read_nvim(text: str) -> dict[str, Any]:
    lua = lupa.LuaRuntime(unpack_returned_tuples=True)
    lua.execute(NVIM_DAP)
    lua.execute(text)
    dap = lua.eval("require('dap')")
    adapter = dap.adapters.debugger
    assert {"command": adapter.command, "args": list(adapter.args.values())} == DAP
    every = {kind: list(one.values()) for kind, one in dap.configurations.items()}
    assert {"python", "c", "rust", "go", "javascript"} <= set(every)
    joining, starting = every["python"]
    assert (joining["name"], starting["request"], starting["program"]) == (
        *(NAME, "launch", "${file}"),
    )
    assert all(
        [one["name"] for one in each] == [NAME, "Debug this file"] for each in every.values()
    )
    return dict(joining)


def read_plist(given: list[Any]) -> dict[str, Any]:
    return {str(name): value for name, value in zip(given[::2], given[1::2], strict=True)}


def find_form(form: Any, head: str) -> list[Any]:
    """Return the first list of Lisp that begins with a symbol."""
    if isinstance(form, sexpdata.Quoted):
        form = form.x
    if not isinstance(form, list) or not form:
        return []
    if isinstance(form[0], sexpdata.Symbol) and str(form[0]) == head:
        return form
    return next(filter(None, (find_form(one, head) for one in form)), [])


def read_emacs(text: str) -> dict[str, Any]:
    forms = sexpdata.loads(f"({text})")
    assert [str(one[0]) for one in forms] == ["with-eval-after-load"] * 2
    dape = read_plist(find_form(forms, "debugger")[1:])
    assert {"command": dape["command"], "args": dape["command-args"]} == DAP
    assert {"python-mode", "c-mode", "rust-mode", "go-mode"} <= {str(one) for one in dape["modes"]}
    template = find_form(forms, "dap-register-debug-template")
    assert template[1] == NAME
    dap_mode = read_plist(template[2].x)
    assert dap_mode[":name"] == NAME
    sent = {name[1:]: value for name, value in dape.items() if name.startswith(":")}
    assert {name: dap_mode[f":{name}"] for name in sent} == sent
    return sent


def read_helix(text: str) -> dict[str, Any]:
    (language,) = tomllib.loads(text)["language"]
    debugger = language["debugger"]
    assert {"command": debugger["command"], "args": debugger["args"]} == DAP
    assert (language["name"], debugger["transport"]) == ("python", "stdio")
    (template,) = debugger["templates"]
    assert template["name"] == "join"
    return {"request": template["request"], **template["args"]}


READERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "vscode": read_vscode,
    "zed": read_zed,
    "nvim": read_nvim,
    "emacs": read_emacs,
    "helix": read_helix,
}


def test_every_editor_has_a_reader_and_a_line_in_the_readme():
    assert set(READERS) == set(EDITORS)
    text = README.read_text(encoding="utf-8")
    assert re.findall(r"^\| .* \| `debugger dap --print (\w+)` \|", text, re.MULTILINE) == [
        *EDITORS
    ]
    for line in re.findall(r"^\| .* `debugger dap --print .*", text, re.MULTILINE):
        assert NAME in line or ":debug-start join" in line
        assert "--listen" not in line or f"--listen 127.0.0.1:{PORT}" in line


@pytest.mark.adapter("debugpy")
def test_what_is_printed_joins_an_agents_session(runtime_dir: Path, cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    for editor, read in READERS.items():
        sent = read(cli("dap", "--print", editor, check=0).out)
        assert sent.pop("request") == "attach", editor
        with open_editor(runtime_dir) as client:
            attached = client.send("attach", **sent)
            client.event("initialized")
            client.ask("configurationDone")
            assert client.answer_to(attached)["success"], editor
            stopped = client.event("stopped")
            assert client.top_frame(stopped["threadId"])["line"] == STEP, editor
            client.ask("disconnect")
    cli("stop", check=0)
