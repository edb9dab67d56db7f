"""Starts programs in Ruby and PHP so that they record themselves, and reads what they wrote."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.recorders.model import LineRecording, Recording, RecordingOrder
from debugger.recorders.record_parser import parse_records
from debugger.recorders.script.step_history import StepHistory, parse_history

RUBY, PHP = "ruby", "php"
LANGUAGES = frozenset({RUBY, PHP})
_INSIDE = Path(__file__).parent / "inside"
_RECORDS = "records"
_SERVER = "DEBUGGER_PHP_SERVER"  # the address of a script that answers requests
_EVENTS = 150_000  # of an origin, twice as many at most
_ORDER = "DEBUGGER_SCRIPT_ORDER"
_MODES = {
    LineRecording.NONE: "calls",
    LineRecording.HIT: "hit",
    LineRecording.EACH: "each",
}


class ScriptOrigin(Struct, frozen=True):
    """The place up to which every change is recorded, and the expression that is read there."""

    expression: str
    file: str = ""
    line: int = 0
    function: str = ""
    when: str = ""
    # From 1; -1 is the last hit.
    nth: int = 1


def script_command(
    language: str, program: str, args: Sequence[str], env: Mapping[str, str]
) -> list[str]:
    """Return the command line that runs a script recorded.

    Raises:
        DebuggerError: LAUNCH_FAILED if the interpreter is not installed, NOT_SUPPORTED of servers.
    """
    if env.get(_SERVER):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "the requests of PHP's own server are not recorded",
            hint=f"debugger probe --at FILE:LINE EXPR -- php -S {env[_SERVER]} {program}",
        )
    name = (env.get("RUBY") if language == RUBY else None) or language
    interpreter = shutil.which(name, path=env.get("PATH"))
    if interpreter is None:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED, f"{name} is not installed", hint=f"put {language} on the PATH"
        )
    start = [str(_INSIDE / "php_start.php")] if language == PHP else []
    return [interpreter, *start, program, *args]


class ScriptRecorder:
    """Has the processes of a program record themselves (`ProcessRecorder`)."""

    def __init__(self, language: str, roots: Sequence[str], settings: Mapping[str, object]) -> None:
        self._language = language
        self._roots = tuple(dict.fromkeys(os.path.realpath(one) for one in roots))
        self._settings = settings
        self.histories: tuple[StepHistory, ...] = ()

    @classmethod
    def from_order(cls, language: str, order: RecordingOrder) -> ScriptRecorder:
        """Return a recorder of calls, with their lines as an order wants them."""
        limits = order.limits
        return cls(
            language,
            order.roots,
            {
                "mode": _MODES[order.lines],
                "events": limits.events,
                "each": limits.each,
                "lines": limits.lines,
                "text": limits.text,
                "items": limits.items,
            },
        )

    @classmethod
    def for_origin(
        cls, language: str, roots: Sequence[str], origin: ScriptOrigin
    ) -> ScriptRecorder:
        """Return a recorder of each change up to a place."""
        return cls(
            language,
            roots,
            {
                "mode": "origin",
                "events": _EVENTS,
                "each": 0,
                "lines": 0,
                "text": 120,
                "items": 6,
                "file": origin.file,
                "line": origin.line,
                "function": origin.function,
                "expression": origin.expression,
                "when": origin.when,
                "nth": origin.nth,
            },
        )

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Write the order, and name it to the program."""
        records = folder / _RECORDS
        records.mkdir(mode=0o700)
        order = folder / "order.txt"
        origin = {"file": "", "line": 0, "function": "", "expression": "", "when": "", "nth": 0}
        pairs = [("folder", records), *{**origin, **self._settings}.items()]
        pairs += [("root", one) for one in self._roots]
        order.write_text("".join(f"{key}\t{value}\n" for key, value in pairs), "utf-8")
        found = {**env, _ORDER: str(order)}
        if self._language == RUBY:
            options = f"-r{_INSIDE / 'ruby_start.rb'} {env.get('RUBYOPT', '')}".strip()
            return {**found, "RUBYOPT": options}
        # Xdebug would see the recorder's frames, and slow them down.
        return {**found, "XDEBUG_MODE": "off"}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: a process that computes hears no signal."""
        return False

    def read_recordings(
        self,
        folder: Path,
        pid: int,
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the records, the program's own first."""
        texts = [one.read_bytes() for one in sorted((folder / _RECORDS).iterdir())]
        if self._settings["mode"] == "origin":
            self.histories = tuple(parse_history(one.splitlines()) for one in texts)
            return (), ()
        found = [parse_records(one.splitlines()) for one in texts]
        return tuple(sorted(found, key=lambda one: _order_key(one, pid))), ()


def _order_key(one: Recording, pid: int) -> tuple[bool, int]:
    return one.process.pid != pid, one.process.time_ns


def find_roots(roots: Iterable[str], program: str) -> tuple[str, ...]:
    """Return the folders of a program's own code: the given ones, and that of its script."""
    folder = Path(program).resolve().parent
    # An installed command, as `rspec`, is no code of the program's.
    is_tool = re.search(r"/(?:s?bin|gems|vendor)(?:/|$)", str(folder)) is not None
    return tuple(dict.fromkeys([*roots, *([] if is_tool else [str(folder)])]))
