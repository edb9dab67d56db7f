"""An xcrun that says what a test has told it to say, and fails on anything else.

Run as `fake_xcrun.py FOLDER ARGUMENTS…`. In the folder are `plan.json`, which maps arguments,
joined by blanks, to answers of which the last is repeated, and `calls.txt`, to which it adds its
own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LIST = "simctl list devices available -j"
UNEXPECTED = 97


def list_arguments(udid: str) -> str:
    """Give the arguments that list a simulator's processes."""
    return f"simctl spawn {udid} launchctl list"


class FakeXcrun:
    """What a test has of it: put it on a PATH, tell it what to say, see what it was asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plan: dict[str, list[dict[str, Any]]] = {}
        program = folder / "xcrun"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n')
        program.chmod(0o755)
        self._write()

    @property
    def env(self) -> dict[str, str]:
        """The variables with which it is found."""
        return {"PATH": f"{self._folder}:{os.environ['PATH']}"}

    def says(self, arguments: str, *outputs: str, **more: Any) -> None:
        """Answer these arguments with these outputs, one a call; `more` is of every answer.

        `exit` is the status, `problem` what is written to standard error, `hangs` for ever.
        """
        self._plan[arguments] = [{"out": one, **more} for one in outputs or ("",)]
        self._write()

    def has(self, *devices: Mapping[str, Any], runtime: str = "iOS-18-0") -> None:
        """List these devices."""
        known = {f"com.apple.CoreSimulator.SimRuntime.{runtime}": list(devices)}
        self.says(LIST, json.dumps({"devices": known}))

    def runs(self, udid: str, *labels_by_time: Mapping[str, int | str]) -> None:
        """Run these processes on a simulator: pids by label, one mapping a call."""
        self.says(list_arguments(udid), *(launchctl_list(one) for one in labels_by_time))

    @property
    def calls(self) -> list[str]:
        """What it was asked, in order."""
        file = self._folder / "calls.txt"
        return file.read_text().splitlines() if file.exists() else []

    def _write(self) -> None:
        draft = self._folder / "plan.draft"
        draft.write_text(json.dumps(self._plan))
        draft.replace(self._folder / "plan.json")


def simulator_device(udid: str, name: str, **more: Any) -> dict[str, Any]:
    """Give a device as simctl lists it."""
    return {"udid": udid, "name": name, "state": "Shutdown", "isAvailable": True, **more}


def launchctl_list(pids: Mapping[str, int | str]) -> str:
    """Give what `launchctl list` prints of processes, by their labels."""
    rows = [f"{pid}\t0\t{label}" for label, pid in pids.items()]
    return "\n".join(["PID\tStatus\tLabel", *rows]) + "\n"


def main(folder: Path, arguments: Sequence[str]) -> int:
    asked = " ".join(arguments)
    calls = folder / "calls.txt"
    with calls.open("a") as file:
        file.write(asked + "\n")
    answers = json.loads((folder / "plan.json").read_text()).get(asked)
    if answers is None:
        sys.stderr.write(f"the fake xcrun was not told what to say to: {asked}\n")
        return UNEXPECTED
    count = calls.read_text().splitlines().count(asked)
    answer = answers[min(count, len(answers)) - 1]
    if answer.get("hangs"):
        while True:
            signal.pause()
    sys.stdout.write(answer["out"])
    sys.stderr.write(answer.get("problem", ""))
    return int(answer.get("exit", 0))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
