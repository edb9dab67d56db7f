"""Records a Go program: builds it with counters in files, which survive any kind of exit."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.model.group_labels import RANK_VARIABLES
from debugger.recorders.counted_recording import add_note, make_recording
from debugger.recorders.go.go_cover import (
    FOLDER,
    CounterFiles,
    CoverBlock,
    find_counter_files,
    find_marks,
    read_covered,
    text_of,
    with_counters,
    with_marks,
)
from debugger.recorders.model import (
    RecordedProcess,
    Recording,
    RecordingNote,
    RecordingWindow,
    window_notes,
)
from debugger.recorders.recorded_process import Unrecorded, record_run
from debugger.sources.project_files import GoTarget

_FILES_MAX = 2_000  # sources of the module
_NAMES_MAX = 3  # files named in a note
_PROCESSES_MAX = 64  # recorded processes
_TOOL_S = 20.0  # seconds for one of Go's tools
_AT_ONCE = 2  # tools that run at the same time
_MESSAGE_LINES = 6  # lines of a compiler's message
# No debugger reads the program; linking it takes a good part of the time before it runs.
_NO_SYMBOLS = "-ldflags=-s -w"
_OURS = "zz_debugger_counted.go"
# Without the copies of packages that are built for a test, and the test's own main package.
# The packages of the main module, and of modules that go.mod replaces by a folder: both are sources
# that the user may change.
_LISTED = (
    "{{if not (or .Standard .ForTest)}}"
    "{{if or (not .Module) .Module.Main (and .Module.Replace (not .Module.Replace.Version))}}"
    '{{.Name}}{{"\\t"}}{{.Dir}}{{"\\t"}}{{join .GoFiles "\\t"}}{{"\\t"}}'
    '{{join .CgoFiles "\\t"}}{{"\\n"}}{{end}}{{end}}'
)


class _GoSource(Struct, frozen=True):
    """A source file of the program's own module, as it was built."""

    file: str
    package: str
    text: tuple[str, ...] = ()
    blocks: tuple[CoverBlock, ...] = ()


# In front of a rank's program: notes the variables that name it, by the number of its process.
_RANKS = "DEBUGGER_RANKS"
_NOTE = f'''env | grep -E '^({"|".join(RANK_VARIABLES)})=' > "${_RANKS}/$$"; exec "$@"'''
RANK_WORDS = ("/bin/sh", "-c", _NOTE, "debugger")


def _read_variables(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:  # it is no rank
        return {}
    return {name: text for name, is_one, text in (one.partition("=") for one in lines) if is_one}


class GoRecorder:
    """Reads the counters of one built program (`ProcessRecorder`)."""

    def __init__(
        self,
        program: str,
        sources: Sequence[_GoSource],
        note: str = "",
        *,
        processes_max: int = _PROCESSES_MAX,
    ) -> None:
        self._processes_max = processes_max
        self.program = program
        self._sources = sources
        self._note = note

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Add the folder of the counters."""
        counters, ranks = folder / "counters", folder / "ranks"
        for one in (counters, ranks):
            one.mkdir(mode=0o700)
        return {**env, FOLDER: str(counters), _RANKS: str(ranks)}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: the counters are always complete."""
        return False

    def read_recordings(
        self, folder: Path, pid: int
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the counters of each process, the program's own first."""
        found = {pid: CounterFiles(), **find_counter_files(folder / "counters")}
        numbers = sorted(found, key=lambda one: (one != pid, one))[: self._processes_max]
        variables = {one: _read_variables(folder / "ranks" / str(one)) for one in numbers}
        made = [self._make_recording(one, found[one], variables[one]) for one in numbers]
        if omitted := len(found) - len(numbers):
            made[0] = add_note(
                made[0], f"{omitted:,} more processes ran, whose counts are not read"
            )
        return tuple(made), ()

    def _make_recording(
        self, pid: int, counts: CounterFiles, variables: Mapping[str, str]
    ) -> Recording:
        ran = []
        for number, one in enumerate(self._sources):
            times = counts.read_counts(number)
            if times is None:
                continue
            blocks = [
                one._replace(times=count) for one, count in zip(one.blocks, times, strict=False)
            ]
            ran += read_covered(one.file, blocks, one.text)
        process = RecordedProcess(pid=pid, language="go", variables=variables)
        made = make_recording(ran, process)
        notes = (RecordingNote("partly", 0, self._note),) if self._note else ()
        edges = window_notes(has_ended=counts.has_ended) if counts.has_begun else ()
        return structs.replace(made, events=(*made.events, *notes, *edges))


async def build_with_counters(
    target: GoTarget,
    folder: Path,
    *,
    env: Mapping[str, str],
    timeout_s: float,
    interrupted: asyncio.Event | None = None,
    window: RecordingWindow | None = None,
) -> GoRecorder:
    """Build a program with counters in its own module's sources, below a folder of ours.

    With a window, the counts between two locations are kept apart.

    Raises:
        DebuggerError: LAUNCH_FAILED with the compiler's message; NOT_SUPPORTED without Go.
    """
    go = shutil.which("go", path=env.get("PATH", os.defpath))
    if go is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, "go is not installed", hint="put go on the PATH"
        )
    is_file = target.what.endswith(".go")
    what = target.what if is_file else "."
    # Packages that only a test imports are of its program too.
    tests = ["-test"] if target.mode == "test" else []
    status, listed, errors = await _run_go(
        [go, "list", "-deps", *tests, "-f", _LISTED, what], cwd=target.folder, env=env
    )
    if status:
        raise _build_error(errors, target)
    every = list(_package_sources(listed))
    sources, refused = await _write_counted_sources(
        go, every[:_FILES_MAX], folder, cwd=target.folder, env=env, window=window
    )
    overlay, added = _write_overlay(sources, folder)
    program = str(folder / "program")
    verb = ["test", "-c"] if target.mode == "test" else ["build"]
    # A package of named files has only these; those of other packages come by the overlay.
    here = os.path.realpath(Path(target.folder, what).parent)
    more = [one for one in added if is_file and os.path.realpath(Path(one).parent) == here]
    ran = await record_run(
        [go, *verb, "-o", program, f"-overlay={overlay}", _NO_SYMBOLS, what, *more],
        Unrecorded(),
        cwd=target.folder,
        env=env,
        timeout_s=timeout_s,
        scratch_root=folder,
        interrupted=interrupted,
    )
    if ran.is_timed_out or ran.status != 0:
        errors = ran.joined_output(OutputStream.STDERR) or ran.joined_output(OutputStream.STDOUT)
        raise _build_error("it takes too long" if ran.is_timed_out else errors, target)
    return GoRecorder(program, sources, _describe_uncounted(refused, len(every)))


def _describe_uncounted(refused: Sequence[str], files: int) -> str:
    """Describe the files whose lines are not counted; "" if all of the module's are."""
    notes = []
    if refused:
        names = ", ".join(Path(one).name for one in refused[:_NAMES_MAX])
        more = f" and {len(refused) - _NAMES_MAX:,} more" if len(refused) > _NAMES_MAX else ""
        notes.append(f"not counted, because go tool cover refuses them: {names}{more}")
    if files > _FILES_MAX:
        notes.append(f"{_FILES_MAX:,} of {files:,} files are counted")
    return "; ".join(notes)


def _write_overlay(sources: Sequence[_GoSource], folder: Path) -> tuple[Path, list[str]]:
    """Write the overlay for `go build`; return its file and the names of the sources it adds.

    By the overlay the user's own sources are never touched.
    """
    replaced = {one.file: str(folder / f"{at}.go") for at, one in enumerate(sources)}
    added = []
    for one in sources:
        counters = str(Path(one.file).parent / _OURS)
        if counters not in replaced:
            added.append(counters)
            replaced[counters] = str(folder / f"counted-{len(replaced)}.go")
            Path(replaced[counters]).write_text(text_of(one.package), "utf-8")
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": replaced}))
    return overlay, added


def _package_sources(listed: str) -> list[_GoSource]:
    found = []
    for line in listed.splitlines():
        package, folder, *files = line.split("\t")
        # The main package of a test has its file in Go's cache.
        own = [one for one in files if one and not Path(one).is_absolute()]
        found += [_GoSource(str(Path(folder, one)), package) for one in own]
    return found


async def _write_counted_sources(
    go: str,
    sources: Sequence[_GoSource],
    folder: Path,
    *,
    cwd: str,
    env: Mapping[str, str],
    window: RecordingWindow | None,
) -> tuple[list[_GoSource], list[str]]:
    """Write each source with counters; return these, and the files that the tool refuses.

    A source without statements (constants, types) has no counters, and is in neither.
    """
    # The tool's own path, so that it is started without go for each file.
    _, tool, _ = await _run_go([go, "tool", "-n", "cover"], cwd=cwd, env=env)
    room = asyncio.Semaphore(_AT_ONCE)

    async def count(one: _GoSource) -> tuple[_GoSource, str]:
        name = "DebuggerCounted"
        words = [*tool.split("\n")[:1], "-mode=count", f"-var={name}", one.file]
        async with room:
            status, text, _ = await _run_go(words, cwd=cwd, env=env)
        return one, "" if status else text

    made = await asyncio.gather(*(count(one) for one in sources))
    found: list[_GoSource] = []
    refused = [one.file for one, text in made if not text]
    for one, text in made:
        number = len(found)
        name = f"debuggerCounted{number}"
        # One name for each file, because the files of a package share their names.
        with_name = text.replace("DebuggerCounted.", f"{name}.")
        with_name = with_name.replace("\nvar DebuggerCounted = ", f"\nvar {name} = ")
        parts = with_name.count(" // [")
        made_by = f'debuggerCounted("{number}", {parts})'
        written, blocks = with_counters(with_name, name, made_by)
        if not blocks:
            continue
        lines = Path(one.file).read_text("utf-8", "replace").split("\n")
        if window is not None:
            some = find_marks(window, one.file, one.package, blocks, lines)
            written = with_marks(written, name, some)
        (folder / f"{number}.go").write_text(written, "utf-8")
        found.append(structs.replace(one, text=tuple(lines), blocks=blocks))
    return found, refused


async def _run_go(
    words: Sequence[str], *, cwd: str, env: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run one of Go's tools; return its status and its output."""
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_TOOL_S):
            out, err = await process.communicate()
    except TimeoutError:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"{' '.join(words[:3])} takes longer than {_TOOL_S:g} s",
            hint="go build ./... shows what it waits for",
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")


def _build_error(errors: str, target: GoTarget) -> DebuggerError:
    lines = [one for one in errors.splitlines() if one.strip() and not one.startswith("#")]
    what = target.what if target.what.endswith(".go") else "."
    return DebuggerError(
        ErrorCode.LAUNCH_FAILED,
        f"{Path(target.what).name} is not built: {'; '.join(lines[:_MESSAGE_LINES])}",
        hint=f"cd {target.folder} && go build {what}",
    )
