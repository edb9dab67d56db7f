"""How is a program in Node recorded, and its child processes and workers, by V8's own counts?"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from debugger.recording.counted import Covered, recording
from debugger.recording.model import Noted, Process, Recording
from debugger.recording.node.ranges import Entered, Range, covered, is_of

_BEGIN = str(Path(__file__).parent / "inside" / "begin.cjs")
_WRITTEN_MAX = 128 << 20  # of one file that Node wrote
_FILES_MAX = 256
_SOURCE_MAX = 4 << 20
_INSTEAD = "debugger crash -- CMD, or hang -- CMD, tells why"
_LEFT_OUT = "/node_modules/"


class _Range(Struct, frozen=True, rename="camel"):
    start_offset: int
    end_offset: int
    count: int


class _Function(Struct, frozen=True, rename="camel"):
    function_name: str
    ranges: tuple[_Range, ...]


class _Script(Struct, frozen=True):
    url: str
    functions: tuple[_Function, ...]


class _Written(Struct, frozen=True):
    """What Node writes when it ends (its documentation: NODE_V8_COVERAGE)."""

    result: tuple[_Script, ...] = ()


class _Begun(Struct, frozen=True):
    """What our own part of a process writes when it begins."""

    pid: int
    parent: int = 0
    words: tuple[str, ...] = ()
    time: float = 0


class InNode:
    """V8's counts (`Recorder`) of the sources below `roots`."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [os.path.realpath(one) for one in roots]
        self._changed: dict[str, None] = {}

    def environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Have every Node write its counts."""
        records = folder / "records"
        records.mkdir(mode=0o700)
        quoted = _BEGIN.replace("\\", "\\\\").replace('"', '\\"')
        options = [f'--require "{quoted}"', *filter(None, [env.get("NODE_OPTIONS")])]
        return {**env, "NODE_V8_COVERAGE": str(records), "NODE_OPTIONS": " ".join(options)}

    def last_words(self, pid: int) -> bool:
        """Have the program write its counts: only at its end it would do so by itself."""
        try:
            os.kill(pid, signal.SIGUSR2)
        except OSError:
            return False
        return True

    def read(self, folder: Path, pid: int) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read what each process wrote; one that was killed wrote nothing."""
        records = folder / "records"
        begun = {one.pid: one for one in _begun(records)}
        ran: dict[int, list[Covered]] = {}
        for path in sorted(records.glob("coverage-*.json"))[:_FILES_MAX]:
            number = path.name.split("-")[1]
            if number.isdigit():
                ran.setdefault(int(number), []).extend(self._covered(path))
        every = [
            self._recording(one, ran.get(one), begun.get(one)) for one in {pid: 0, **begun, **ran}
        ]
        every.sort(key=lambda one: (one.process.pid != pid, one.process.time_ns, one.process.pid))
        return tuple(every), ()

    def _recording(self, pid: int, ran: list[Covered] | None, begun: _Begun | None) -> Recording:
        process = Process(
            pid=pid,
            parent=begun.parent if begun is not None else 0,
            language="javascript",
            words=begun.words if begun is not None else (),
            time_ns=int(begun.time * 1e6) if begun is not None else 0,
        )
        made = recording(ran or (), process)
        notes = []
        if ran is None:
            notes.append(
                Noted("silent", 0, f"process {pid} was killed before it told what ran: {_INSTEAD}")
            )
        if self._changed:
            names = ", ".join(Path(one).name for one in list(self._changed)[:3])
            notes.append(Noted("changed", 0, names))
        return msgspec.structs.replace(made, events=(*made.events, *notes))

    def _covered(self, path: Path) -> Iterator[Covered]:
        if path.stat().st_size > _WRITTEN_MAX:
            return
        try:
            written = msgspec.json.decode(path.read_bytes(), type=_Written)
        except (msgspec.DecodeError, OSError):  # it was killed while it wrote
            return
        for script in written.result:
            file = self._own(script.url)
            text = _text(file) if file is not None else None
            if file is None or text is None:
                continue
            functions = [
                Entered(
                    one.function_name,
                    tuple(Range(r.start_offset, r.end_offset, r.count) for r in one.ranges),
                )
                for one in script.functions
            ]
            if is_of(functions, text):
                yield from covered(functions, file, text)
            else:
                self._changed[file] = None

    def _own(self, url: str) -> str | None:
        """Return the file of a script of the program's own."""
        parts = urlsplit(url)
        if parts.scheme != "file":
            return None
        file = unquote(parts.path)
        if _LEFT_OUT in file or file == _BEGIN:
            return None
        return file if any(_is_below(file, root) for root in self._roots) else None


def _is_below(file: str, root: str) -> bool:
    return file.startswith(root.rstrip("/") + "/")


def _text(file: str) -> str | None:
    try:
        if Path(file).stat().st_size > _SOURCE_MAX:
            return None
        return Path(file).read_bytes().decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return None


def _begun(records: Path) -> Iterator[_Begun]:
    for path in sorted(records.glob("process-*.json"))[:_FILES_MAX]:
        try:
            yield msgspec.json.decode(path.read_bytes(), type=_Begun)
        except (msgspec.DecodeError, OSError):
            continue
