"""Records programs on the JVM: an agent counts how often the lines of their classes run."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from debugger.model.group_labels import RANK_VARIABLES
from debugger.recorders.counted_recording import add_note, make_recording
from debugger.recorders.java.counted_classes import SourceFinder, list_lineless, read_counts
from debugger.recorders.model import (
    FunctionPlace,
    RecordedProcess,
    Recording,
    RecordingNote,
    RecordingWindow,
    window_notes,
)
from debugger.sources.java_command import QUICK_COMPILER
from debugger.sources.java_project import find_package

AGENT_SOURCES = Path(__file__).parent / "agent"
_MANIFEST = "Premain-Class: debugger.counting.CountingAgent\n"
_RELEASE = "11"  # the oldest JVM that the agent runs in
_PROCESSES_MAX = 64
_BYTES_MAX = 64 << 20  # of one process's counts
_NAMES_MAX = 3
_OWN = "its own are those in folders, and in the jar of the main class"
_INSTEAD = "debugger crash -- CMD, or hang -- CMD, tells why"


def agent_file(cache: Path, jdk: Path) -> Path:
    """Return the jar of the agent, as the sources and the JDK that compiles them make it."""
    digest = hashlib.sha256(str(jdk).encode())
    for one in sorted(AGENT_SOURCES.glob("*.java")):
        digest.update(one.read_bytes())
    # Named as the adapter's, which removes those that were not used for long.
    return cache / f"classes-{digest.hexdigest()[:16]}" / "agent.jar"


def compile_words(javac: str, classes: Path) -> list[str]:
    """Return the words of the compiler for the agent."""
    sources = sorted(map(str, AGENT_SOURCES.glob("*.java")))
    return [javac, QUICK_COMPILER, "-nowarn", "--release", _RELEASE, "-d", str(classes), *sources]


def pack_agent(classes: Path, jar: Path) -> None:
    """Write the jar of the agent from its compiled classes; it appears as a whole."""
    jar.parent.mkdir(parents=True, exist_ok=True)
    draft = jar.with_name(f"draft-{os.getpid()}.jar")
    with zipfile.ZipFile(draft, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", _MANIFEST)
        for one in sorted(classes.rglob("*.class")):
            archive.write(one, str(one.relative_to(classes)))
    draft.replace(jar)


class _BegunJvm(Struct, frozen=True):
    """What a JVM wrote of itself when it began."""

    pid: int
    parent: int
    time_ms: int
    words: tuple[str, ...]
    variables: Mapping[str, str]


class JavaRecorder:
    """Reads the counts of the JVMs that the agent was begun in (`ProcessRecorder`)."""

    def __init__(
        self,
        agent: Path,
        folder: Path,
        *,
        jars: Sequence[str],
        modules: Sequence[str],
        window: RecordingWindow | None = None,
    ) -> None:
        self._agent = agent
        self._records = folder / "records"
        self._jars = jars
        self._modules = modules
        self._window = window

    @property
    def option(self) -> str:
        """The option by which a JVM begins to count."""
        return f"-javaagent:{self._agent}={self._records}"

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:  # noqa: ARG002
        """Return the environment as it is: the JVM has the agent as an option."""
        self._records.mkdir(mode=0o700)
        window = self._window
        edges = [_write_edge(one) for one in (window.start, window.to)] if window else []
        orders = (("jars", self._jars), ("variables", RANK_VARIABLES), ("window", edges))
        for name, lines in orders:
            (self._records / name).write_text("".join(f"{one}\n" for one in lines), "utf-8")
        return dict(env)

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a build tool's, not the JVM's
        """Request the counts: a JVM writes them when it is asked to end."""
        begun = [one.pid for one in self._begun_jvms() if not self._counts_file(one.pid).exists()]
        for one in begun:
            with suppress(OSError):
                os.kill(one, signal.SIGTERM)
        return bool(begun)

    def read_recordings(
        self,
        folder: Path,  # noqa: ARG002 - the agent knows ours
        pid: int,
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the counts of each JVM, the program's own first."""
        begun = sorted(self._begun_jvms(), key=lambda one: (one.pid != pid, one.time_ms, one.pid))
        finder = SourceFinder(self._modules)
        made = [self._make_recording(one, finder) for one in begun[:_PROCESSES_MAX]]
        if not made:
            nothing = make_recording((), RecordedProcess(pid=pid, language="java"))
            made = [_with_note(nothing, "silent", "no JVM of the program began to count")]
        if omitted := len(begun[_PROCESSES_MAX:]):
            made[0] = add_note(made[0], f"{omitted:,} more JVMs ran, whose counts are not read")
        return tuple(made), ()

    def _counts_file(self, pid: int) -> Path:
        """Return what a JVM writes when it ends."""
        return self._records / f"counts-{pid}"

    def _begun_jvms(self) -> list[_BegunJvm]:
        found = []
        for path in self._records.glob("begun-*"):
            first, *pairs = path.read_text("utf-8", "replace").splitlines()
            pid, parent, time_ms, command = first.split("\t", 3)
            variables = {name: value for name, _, value in (one.partition("=") for one in pairs)}
            words = tuple(command.split())
            found.append(_BegunJvm(int(pid), int(parent), int(time_ms), words, variables))
        return found

    def _make_recording(self, jvm: _BegunJvm, finder: SourceFinder) -> Recording:
        process = RecordedProcess(
            pid=jvm.pid,
            parent=jvm.parent,
            language="java",
            words=("java", *jvm.words),
            time_ns=jvm.time_ms * 1_000_000,
            variables=jvm.variables,
        )
        path = self._counts_file(jvm.pid)
        if not path.is_file():
            note = f"process {jvm.pid} was killed before it told what ran: {_INSTEAD}"
            return _with_note(make_recording((), process), "silent", note)
        if path.stat().st_size > _BYTES_MAX:
            note = f"process {jvm.pid} wrote more counts than are read ({_BYTES_MAX >> 20} MiB)"
            return _with_note(make_recording((), process), "silent", note)
        with path.open(encoding="utf-8", errors="replace") as lines:
            counts = read_counts(lines)
        classes = counts.classes
        made = make_recording(list(finder.cover(classes)), process)
        uncounted = [f"{one.simple_name}.{name}" for one in classes for name in one.uncounted]
        if uncounted:
            names = ", ".join(uncounted[:_NAMES_MAX])
            made = add_note(made, f"too long for counters, and not counted: {names}")
        if lineless := list_lineless(classes):
            names = ", ".join(lineless[:_NAMES_MAX])
            made = add_note(made, f"compiled without lines, so only calls are counted: {names}")
        if not classes:
            made = add_note(made, f"no class of the program's own ran: {_OWN}")
        if counts.omitted:
            made = add_note(made, f"{counts.omitted:,} more classes were not counted")
        notes = window_notes(has_ended=counts.edges > 1) if counts.edges else ()
        return structs.replace(made, events=(*made.events, *notes))


def _write_edge(place: FunctionPlace) -> str:
    """Write an edge of the window as the agent reads it (agent/WindowEdge.java)."""
    function = re.escape(place.name).replace(r"\*", ".*")
    file = Path(place.file)
    folder = (find_package(file) + ".").lstrip(".").replace(".", "/") if file.is_file() else "*"
    return f"(?:.*[.])?{function}\t{place.line}\t{folder}\t{file.name or '*'}"


def _with_note(recording: Recording, kind: str, text: str) -> Recording:
    return structs.replace(recording, events=(*recording.events, RecordingNote(kind, 0, text)))
