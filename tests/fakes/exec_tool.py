"""Plays docker, podman and kubectl by the name that it is called by: `exec` in a container or pod.

Its container is this machine, with the environment of the file `container.json` beside it. What it
refuses, it refuses in the real tools' words, with their exit codes (docker 28, podman 5.4, kubectl
1.32).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

IMPROPER = "can only create exec sessions on running containers"
REFUSED = "Error from server (BadRequest)"  # kubectl leaves the check to the server
NAME = Path(sys.argv[0]).name
FACTS = json.loads((Path(sys.argv[0]).parent / "container.json").read_text())


def fail(status: int, text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.exit(status)


def run_in_container(words: list[str]) -> None:
    env = FACTS["env"]
    os.chdir(env["HOME"])
    try:
        os.execvpe(words[0], words, env)
    except FileNotFoundError:
        fail(127, f'OCI runtime exec failed: exec: "{words[0]}": executable file not found')


def exec_container(words: list[str]) -> None:
    if words[:2] != ["exec", "-i"]:
        fail(125, f"unknown command: {NAME} {' '.join(words[:2])}")
    name, command = words[2], words[3:]
    if name not in FACTS["containers"]:
        if NAME == "podman":
            fail(125, f'Error: no container with name or ID "{name}" found: no such container')
        fail(1, f"Error response from daemon: No such container: {name}")
    if FACTS["containers"][name] != "running":
        if NAME == "podman":  # also of a paused one (podman 4.3)
            fail(255, f"Error: {IMPROPER}: container state improper")
        if FACTS["containers"][name] == "paused":
            fail(
                1, f"Error response from daemon: Container {name} is paused, unpause the container"
            )
        fail(1, f"Error response from daemon: container {name} is not running")
    run_in_container(command)


def exec_pod(words: list[str]) -> None:
    at = words.index("--")
    options = [one for one in words[2:at] if one.startswith("--")]
    (pod,) = [one for one in words[2:at] if not one.startswith("--")]
    named = dict(one.removeprefix("--").split("=", 1) for one in options)
    if f"{named.get('namespace', 'default')}/{pod}" not in FACTS["pods"]:
        fail(1, f'Error from server (NotFound): pods "{pod}" not found')
    if named.get("container", "app") != "app":
        fail(1, f"{REFUSED}: container {named['container']} is not valid for pod {pod}")
    run_in_container(words[at + 1 :])


if __name__ == "__main__":
    (exec_pod if NAME == "kubectl" else exec_container)(sys.argv[1:])
