"""Reads what the agent counted of a JVM's classes, and finds their sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from debugger.recorders.counted_recording import CoveredFunction, only_known
from debugger.recorders.model import SourcePart
from debugger.sources.java_project import find_class_source

_INNER = re.compile(r"(?<!\$)\$(?=[^\W\d])")
# A line of these alone does nothing that the lines before it do not tell.
_BRACKETS = re.compile(r"[\s{}();]*")
_SIZE_MAX = 4 << 20  # bytes of a source
# From a folder of classes to its project: `target/classes`, `build/classes/java/main`.
_LEVELS = 5


class CountedMethod(Struct, frozen=True):
    """How often a method was called, and each of its lines ran."""

    name: str
    count: int
    lines: Mapping[int, int]


class CountedClass(Struct, frozen=True):
    """A class; `source` is the name of its file, `location` where it was loaded from."""

    name: str
    source: str
    location: str
    methods: tuple[CountedMethod, ...] = ()
    uncounted: tuple[str, ...] = ()

    @property
    def simple_name(self) -> str:
        """The name without its package, as a stack shows it: `Cart.Item`."""
        return _INNER.sub(".", self.name.rpartition(".")[2])

    @property
    def folder(self) -> str:
        """The folder or the jar that it was loaded from."""
        return (
            unquote(self.location)
            .removeprefix("jar:")
            .removeprefix("nested:")
            .removeprefix("file:")
            .partition("!")[0]
        )


class JvmCounts(Struct, frozen=True):
    """What a JVM counted."""

    classes: list[CountedClass]
    # Classes of which nothing is known.
    omitted: int = 0
    # How many edges of the window it passed, begin and end.
    edges: int = 0


def read_counts(lines: Iterable[str]) -> JvmCounts:
    """Read what the agent wrote (agent/CountReport.java)."""
    classes: list[CountedClass] = []
    methods: list[CountedMethod] = []
    uncounted: list[str] = []
    totals = {"omitted": 0, "window": 0}
    header: tuple[str, ...] = ()

    def finish() -> None:
        if header:
            name, source, location = header
            given = name.replace("/", "."), source, location
            classes.append(CountedClass(*given, tuple(methods), tuple(uncounted)))
        methods.clear()
        uncounted.clear()

    for line in lines:
        kind, *words = line.rstrip("\n").split("\t")
        if kind == "class":
            finish()
            header = tuple(words)
        elif kind == "method":
            pairs = (one.split(":") for one in words[2].split())
            counts = {int(number): int(times) for number, times in pairs}
            methods.append(CountedMethod(words[0], int(words[1]), counts))
        elif kind == "uncounted":
            uncounted.append(words[0])
        elif kind in totals:
            totals[kind] = int(words[0])
    finish()
    return JvmCounts(classes, totals["omitted"], totals["window"])


def list_lineless(classes: Sequence[CountedClass]) -> list[str]:
    """Return the classes that ran and were compiled without lines.

    A class of which no line is known beside others of its source is the compiler's own.
    """
    with_lines = {
        one.source for one in classes if one.source and any(each.lines for each in one.methods)
    }
    return [
        one.simple_name
        for one in classes
        if any(each.count for each in one.methods)
        and not any(each.lines for each in one.methods)
        and one.source not in with_lines
    ]


class SourceFinder:
    """Finds the sources of classes in the modules of a project, and beside the classes."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = modules
        self._files: dict[tuple[str, str, str], str | None] = {}
        self._texts: dict[str, tuple[str, ...]] = {}

    def cover(self, classes: Sequence[CountedClass]) -> Iterator[CoveredFunction]:
        """Yield the methods that ran, by the files of their sources.

        A jar may be a library's, or have libraries' classes among the program's own: where some
        sources are found, classes of jars without one are left out.
        """
        files = [self._find(one) for one in classes]
        has_source = any(files)
        for one, file in zip(classes, files, strict=True):
            if file is None and has_source and not Path(one.folder).is_dir():
                continue
            package = one.name.rpartition(".")[0].replace(".", "/")
            yield from self._methods(one, file or str(Path(one.folder, package, one.source)))

    def _methods(self, one: CountedClass, file: str) -> Iterator[CoveredFunction]:
        text = self._read(file)
        for method in one.methods:
            if not method.count and not any(method.lines.values()):
                continue
            parts = tuple(
                SourcePart(line, times=times)
                for line, times in sorted(method.lines.items())
                if not text or (line <= len(text) and not _BRACKETS.fullmatch(text[line - 1]))
            )
            first = min(method.lines, default=0)
            if not text or first <= len(text):
                name = f"{one.simple_name}.{method.name}"
                yield only_known(CoveredFunction(name, file, first, method.count, parts))

    def _find(self, one: CountedClass) -> str | None:
        package = one.name.rpartition(".")[0]
        key = (package, one.source, one.folder)
        if not one.source:
            return None
        if key not in self._files:
            beside = [Path(one.folder), *Path(one.folder).parents][:_LEVELS]
            modules = [*self._modules, *map(str, beside[: -1 if len(beside) < _LEVELS else None])]
            self._files[key] = find_class_source(modules, one.name, one.source)
        return self._files[key]

    def _read(self, file: str) -> tuple[str, ...]:
        if file not in self._texts:
            path = Path(file)
            is_small = path.is_file() and path.stat().st_size <= _SIZE_MAX
            text = path.read_text("utf-8", "replace") if is_small else ""
            self._texts[file] = tuple(text.splitlines())
        return self._texts[file]
