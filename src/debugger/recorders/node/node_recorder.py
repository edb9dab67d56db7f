"""Records a Node program, its child processes and workers, by counters in its scripts, or V8's."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct, field

from debugger.model.group_labels import RANK_VARIABLES
from debugger.recorders.counted_recording import CoveredFunction, add_note, make_recording
from debugger.recorders.model import RecordedProcess, Recording, RecordingNote, window_notes
from debugger.recorders.node.source_maps import CachedMap, counts_of_sources
from debugger.recorders.node.v8_ranges import (
    CountedRange,
    NodeMark,
    V8Function,
    WindowMarks,
    is_of,
    of_part,
    place_of,
    read_covered,
    with_call,
    without_added_end,
)
from debugger.sources.source_map import source_file
from debugger.system.node_options import with_preloaded

_FOLDER = Path(__file__).parent / "inside"
_BEGIN = str(_FOLDER / "begin.cjs")
_WRITTEN_MAX = 128 << 20  # of one file that Node wrote
_FILES_MAX = 256  # coverage files
_CACHE_MAX = 64 << 20  # bytes of rewritten scripts
_COUNTS, _STARTS = "*-*-*.json", "process-*.json"
_NAMES_MAX = 3
_SOURCE_MAX = 64 << 20  # bytes
_INSTEAD = "debugger crash -- CMD, or hang -- CMD, tells why"
_KINDS = {"before": "before", "between": "between", "coverage": "rest", "counts": "own"}
_LEFT_OUT = "/node_modules/"
_TYPED = (".ts", ".mts", ".cts")


class _V8Range(Struct, frozen=True, rename="camel"):
    start_offset: int
    end_offset: int
    count: int


class _V8Function(Struct, frozen=True, rename="camel"):
    function_name: str
    ranges: tuple[_V8Range, ...]


class _V8Script(Struct, frozen=True):
    url: str
    functions: tuple[_V8Function, ...]


class _CoverageFile(Struct, frozen=True):
    """The file that Node writes at its exit (see NODE_V8_COVERAGE in Node's docs), or ours."""

    result: tuple[_V8Script, ...] = ()
    # In a file of our own: the scripts of which V8's file has the counts.
    uncounted: frozenset[str] = frozenset()
    maps: dict[str, CachedMap] = field(default_factory=dict, name="source-map-cache")


class _ProcessRecord(Struct, frozen=True):
    """The record that our preloaded script writes at the start of a process."""

    pid: int
    parent: int = 0
    words: tuple[str, ...] = ()
    time: float = 0
    variables: dict[str, str] = {}


class _CountingOrder(Struct, frozen=True):
    """The order to our preloaded script: what to count, and the marks of a part of the run."""

    roots: Sequence[str]
    between: tuple[Sequence[NodeMark], Sequence[NodeMark]] | None
    cache: str | None  # the folder of rewritten scripts
    variables: Sequence[str] = RANK_VARIABLES  # of its environment, that each process reports


class _MarkRecord(Struct, frozen=True):
    """The record of the window mark that a thread reached."""

    mark: int


class _ThreadFiles(Struct):
    """The coverage files of one thread in order of time (see `_group_by_thread`)."""

    pid: int
    before: list[Path] = field(default_factory=list)  # up to where the counting began
    between: list[Path] = field(default_factory=list)
    rest: list[Path] = field(default_factory=list)
    own: list[Path] = field(default_factory=list)  # of our own counters
    met: int = -1


class NodeRecorder:
    """Reads V8's counts of the sources below `roots` (`ProcessRecorder`).

    With marks only the counts between the marks are reported. A thread that reaches no start mark
    is then reported only if no thread of its process does. `cache` is a folder of the user's own,
    where the rewritten scripts are kept for the next run.
    """

    def __init__(
        self,
        roots: Sequence[str],
        marks: WindowMarks | None = None,
        *,
        cache: Path | None = None,
        files_max: int = _FILES_MAX,
    ) -> None:
        self._files_max = files_max
        self._cache = cache
        self._roots = [os.path.realpath(one) for one in roots]
        self._marks = marks
        self._changed: dict[str, None] = {}
        self._maps: dict[str, CachedMap] = {}
        self._foreign: dict[str, None] = {}

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Make every Node process write its counts."""
        records = folder / "records"
        records.mkdir(mode=0o700)
        marks = self._marks
        cache = str(self._cache) if self._cache is not None and prepare_cache(self._cache) else None
        between = (marks.start, marks.to) if marks is not None else None
        order = _CountingOrder(self._roots, between, cache)
        (records / "order.json").write_bytes(msgspec.json.encode(order))
        options = with_preloaded(_BEGIN, env.get("NODE_OPTIONS") or "")
        return {**env, "NODE_V8_COVERAGE": str(records), "NODE_OPTIONS": options}

    def last_words(self, pid: int) -> bool:
        """Request the counts: Node would write them at a normal exit only."""
        try:
            # Our preloaded script writes the counts at this signal, and ends the process.
            os.kill(pid, signal.SIGUSR2)
        except OSError:
            return False
        return True

    def read_recordings(
        self, folder: Path, pid: int
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the counts of each process; a killed one wrote nothing."""
        records = folder / "records"
        begun = {one.pid: one for one in _process_records(records, self._files_max)}
        ran: dict[int, list[_ThreadFiles]] = {}
        for one in _group_by_thread(records, self._files_max):
            ran.setdefault(one.pid, []).append(one)
        every = [
            self._make_recording(one, ran.get(one, []), begun.get(one))
            for one in {pid: 0, **begun, **ran}
        ]
        # The program's own process first, then in the order of their starts.
        every.sort(key=lambda one: (one.process.pid != pid, one.process.time_ns, one.process.pid))
        if omitted := _count_omitted(records, self._files_max):
            every[0] = add_note(every[0], f"{omitted:,} more files of counts are not read")
        return tuple(every), ()

    def _make_recording(
        self, pid: int, threads: list[_ThreadFiles], begun: _ProcessRecord | None
    ) -> Recording:
        process = RecordedProcess(
            pid=pid,
            parent=begun.parent if begun is not None else 0,
            language="javascript",
            words=begun.words if begun is not None else (),
            time_ns=int(begun.time * 1e6) if begun is not None else 0,
            variables=begun.variables if begun is not None else {},
        )
        self._changed, self._maps, self._foreign = {}, {}, {}
        met = [one for one in threads if one.met >= 0]
        made = make_recording(
            [each for one in met or threads for each in self._thread_counts(one)], process
        )
        notes = []
        if not any(one.between or one.rest or one.own for one in met or threads):
            notes.append(
                RecordingNote(
                    "silent", 0, f"process {pid} was killed before it told what ran: {_INSTEAD}"
                )
            )
        if self._changed:
            notes.append(RecordingNote("changed", 0, _file_names(self._changed)))
        if not made.functions and self._foreign and not self._changed:
            notes.append(RecordingNote("foreign", 0, _file_names(self._foreign)))
        if met:
            notes += window_notes(has_ended=all(one.between for one in met))
        return msgspec.structs.replace(made, events=(*made.events, *notes))

    def _thread_counts(self, one: _ThreadFiles) -> Iterator[CoveredFunction]:
        """Return a thread's counts, from its first mark on if there are marks."""
        if one.met < 0 or self._marks is None:
            yield from self._whole_counts(one)
            return
        mark = self._marks.start[one.met]
        before = [self._read_scripts(_read_file(path)) for path in one.before]
        part = [self._read_scripts(_read_file(path)) for path in one.between or one.rest]
        after = [self._read_scripts(_read_file(path)) for path in one.rest if one.between]
        for number, scripts in enumerate(part):
            every = (*before, *part, *after)
            for script in {each: None for some in every for each in some}:
                known = [some.get(script, []) for some in every]
                functions = of_part(scripts.get(script, []), known)
                is_there = mark.is_entry and self._own_file(script[0]) == mark.file
                if number == 0 and before and is_there:
                    at = place_of(_read_text(mark.file) or "", mark.line, mark.column)
                    functions = with_call(functions, before[-1].get(script, []), at)
                yield from self._script_counts(script[0], functions)

    def _whole_counts(self, one: _ThreadFiles) -> Iterator[CoveredFunction]:
        """Return all counts of a thread: our own, and of the other scripts V8's."""
        own = [_read_file(path) for path in one.own]
        counted = {script.url for each in own for script in each.result}
        by_v8 = {url for each in own for url in each.uncounted}
        for each in own:
            for (url, _), functions in self._read_scripts(each).items():
                yield from self._script_counts(url, functions)
        for path in one.rest:
            for (url, _), functions in self._read_scripts(_read_file(path)).items():
                if not own or url in by_v8:
                    yield from self._script_counts(url, functions)
                elif url not in counted and any(each.ranges[0].count for each in functions):
                    # It was not loaded as scripts are, and what was compiled is not known.
                    self._changed[unquote(urlsplit(url).path)] = None

    def _script_counts(
        self, url: str, functions: Sequence[V8Function]
    ) -> Iterator[CoveredFunction]:
        file = self._own_file(url)
        text = _read_text(file) if file is not None else None
        if file is None or text is None:
            return
        if url in self._maps and (mapped := list(self._of_sources(url, file, functions))):
            yield from mapped
            return
        if file.endswith(_TYPED):
            functions = without_added_end(functions, text)
        if is_of(functions, text):
            yield from read_covered(functions, file, text)
        else:
            # Reported, because counts of another text would name wrong lines.
            self._changed[file] = None

    def _of_sources(
        self, url: str, script: str, functions: Sequence[V8Function]
    ) -> Iterator[CoveredFunction]:
        """Convert a script's counts to those of its sources, by its source map."""
        cached = self._maps[url]
        if cached.data is None:
            return
        contents = cached.data.sources_content or ()
        files: dict[int, str] = {}
        texts: dict[int, str] = {}
        for number, name in enumerate(cached.data.sources):
            file = source_file(name, script) if name else None
            text = _read_text(file) if file is not None and _LEFT_OUT not in file else None
            if file is None or text is None:
                continue
            compiled = contents[number] if number < len(contents) else None
            # The map holds the source as it was compiled; line ends and indentation may differ.
            if compiled is not None and compiled.split() != text.split():
                self._changed[file] = None
                continue
            files[number], texts[number] = file, text
        for number, one in counts_of_sources(functions, cached, texts).items():
            yield from read_covered(
                one.functions, files[number], texts[number], code_lines=one.code_lines
            )

    def _read_scripts(self, written: _CoverageFile) -> dict[tuple[str, int], list[V8Function]]:
        """Return the counts of the program's own scripts; some are loaded more than once."""
        # Node writes counts of every loaded script, libraries included.
        found: dict[tuple[str, int], list[V8Function]] = {}
        self._maps.update(written.maps)
        for script in written.result:
            if self._own_file(script.url) is None:
                self._note_foreign(script.url)
                continue
            # A script may be loaded more than once, each time with counts of its own.
            nth = sum(url == script.url for url, _ in found)
            found[script.url, nth] = [
                V8Function(
                    one.function_name,
                    tuple(CountedRange(r.start_offset, r.end_offset, r.count) for r in one.ranges),
                )
                for one in script.functions
            ]
        return found

    def _note_foreign(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme == "file" and Path(unquote(parts.path)).parent != _FOLDER:
            self._foreign[unquote(parts.path)] = None

    def _own_file(self, url: str) -> str | None:
        """Return the file of a script, if it is the program's own."""
        parts = urlsplit(url)
        if parts.scheme != "file":
            return None
        file = unquote(parts.path)
        if _LEFT_OUT in file or Path(file).parent == _FOLDER:
            return None
        return file if any(_is_below(file, root) for root in self._roots) else None


def prepare_cache(folder: Path, bytes_max: int = _CACHE_MAX) -> bool:
    """Make the folder of rewritten scripts, and remove the oldest of too many."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        scripts = [(one.stat(), one) for one in folder.iterdir()]
        total = 0
        for stat, path in sorted(scripts, key=lambda each: -each[0].st_mtime):
            total += stat.st_size
            if total > bytes_max:
                path.unlink(missing_ok=True)
    except OSError:  # the scripts are rewritten each time
        return False
    return True


def _read_file(path: Path) -> _CoverageFile:
    try:
        if path.stat().st_size > _WRITTEN_MAX:
            return _CoverageFile()
        return msgspec.json.decode(path.read_bytes(), type=_CoverageFile)
    except (msgspec.DecodeError, OSError):  # it was killed while it wrote
        return _CoverageFile()


def _file_names(files: Mapping[str, None]) -> str:
    some = ", ".join(Path(one).name for one in list(files)[:_NAMES_MAX])
    return f"{some}, …" if len(files) > _NAMES_MAX else some


def _is_below(file: str, root: str) -> bool:
    return file.startswith(root.rstrip("/") + "/")


def _read_text(file: str) -> str | None:
    try:
        if Path(file).stat().st_size > _SOURCE_MAX:
            return None
        return Path(file).read_bytes().decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return None


def _count_omitted(records: Path, files_max: int) -> int:
    """Return how many files Node wrote beyond those that are read."""
    written = (sum(1 for _ in records.glob(kind)) for kind in (_COUNTS, _STARTS))
    return sum(max(count - files_max, 0) for count in written)


def _group_by_thread(records: Path, files_max: int) -> Iterator[_ThreadFiles]:
    """Group the files by thread: `coverage-PID-TIME-THREAD.json`, and those we have renamed."""
    found: dict[tuple[str, str], _ThreadFiles] = {}
    for path in sorted(records.glob(_COUNTS))[:files_max]:
        kind, pid, *_, thread = path.stem.split("-")
        if not pid.isdigit():
            continue
        one = found.setdefault((pid, thread), _ThreadFiles(int(pid)))
        if kind == "begun":
            one.met = msgspec.json.decode(path.read_bytes(), type=_MarkRecord).mark
        elif kind in _KINDS:
            getattr(one, _KINDS[kind]).append(path)
    yield from found.values()


def _process_records(records: Path, files_max: int) -> Iterator[_ProcessRecord]:
    for path in sorted(records.glob(_STARTS))[:files_max]:
        try:
            yield msgspec.json.decode(path.read_bytes(), type=_ProcessRecord)
        except (msgspec.DecodeError, OSError):
            continue
