"""Counts the lines, branches and small results of a native program's own functions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError
from debugger.recorders.counted_recording import CoveredFunction, add_note, make_recording
from debugger.recorders.model import RecordedProcess, Recording
from debugger.recorders.native.block_counts import CountedBlock, parse_blocks
from debugger.recorders.native.native_lines import BinaryLines
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_cache import cache_folder

BLOCKS = "blocks"  # the language of recordings whose blocks were counted
_HOST = str(Path(__file__).parent / "counting_host.py")
_BLOCKS_MAX = 1_000_000


class _LoadedFile(Struct, frozen=True):
    """A binary of the program, and where it was loaded."""

    path: str
    base: str


class NativeRecorder:
    """Reads the counts of a program that `counting_host.py` runs (`ProcessRecorder`)."""

    def __init__(self, folder: Path, env: Mapping[str, str], sources: Iterable[str]) -> None:
        self._folder = folder
        self._env = env
        self._sources = {os.path.normpath(one): one for one in sources}
        (folder / "environment.json").write_text(json.dumps(dict(env)), "utf-8")

    def command_line(self, words: Sequence[str]) -> list[str]:
        """Return the command that runs a program counted, and ends as it does."""
        return [sys.executable, "-I", _HOST, str(self._folder), *words]

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:  # noqa: ARG002
        """Return the environment of the host; that of the program is in a file."""
        # Frida's client leaves a folder in $TMPDIR.
        return {**os.environ, "TMPDIR": str(folder)}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: the counts are always complete."""
        return False

    def read_recordings(
        self,
        folder: Path,  # noqa: ARG002 - a protocol
        pid: int,
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the counts of the program."""
        fault = self._folder / "fault"
        faults = (fault.read_text("utf-8"),) if fault.exists() else ()
        counts, files = self._folder / "blocks", self._folder / "binaries.json"
        process = RecordedProcess(pid=pid, language=BLOCKS)
        if not counts.exists() or not files.exists():
            return (make_recording((), process),), faults or ("the program was not counted",)
        blocks = parse_blocks(counts.read_bytes(), _BLOCKS_MAX)
        loaded = msgspec.json.decode(files.read_bytes(), type=list[_LoadedFile])
        covered = [one for file in loaded for one in self._cover_binary(file, blocks)]
        # Of functions in several binaries, too, the first that was reached comes first.
        covered.sort(key=_first_reached)
        made = make_recording(covered, process)
        if len(blocks) >= _BLOCKS_MAX:
            made = add_note(made, f"only the first {_BLOCKS_MAX:,} blocks of code are counted")
        return (made,), faults

    def _cover_binary(
        self, loaded: _LoadedFile, blocks: Sequence[CountedBlock]
    ) -> list[CoveredFunction]:
        try:
            image = BinaryImage(loaded.path, cache=cache_folder(self._env))
        except DebuggerError:  # it was removed meanwhile, or is none of x86-64
            return []
        try:
            low, high = image.binary.loaded_range
            bias = image.binary.load_bias(int(loaded.base, 16))
            own = [_moved(one, -bias) for one in blocks if low <= one.address - bias < high]
            if not own or not image.has_debug:
                return []
            return list(BinaryLines(image, self._sources.get).cover_functions(own))
        finally:
            image.close()


def _moved(one: CountedBlock, distance: int) -> CountedBlock:
    return msgspec.structs.replace(
        one,
        address=one.address + distance,
        jump=one.jump + distance if one.jump else 0,
        target=one.target + distance if one.jump else 0,
    )


def _first_reached(one: CoveredFunction) -> int:
    return min((part.first for part in one.parts if part.first), default=0)
