"""How is a program in Go recorded: built with counters in files, which outlive any end of it?"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.core.events import Stream
from debugger.errors import Code, DebuggerError
from debugger.recording.counted import recording
from debugger.recording.go.profile import Block, covered, with_counters
from debugger.recording.model import Noted, Process, Recording
from debugger.recording.run import record
from debugger.targets.gopackage import Target

_FILES_MAX = 2_000
_PROCESSES_MAX = 64
_TOOL_S = 20.0
_AT_ONCE = 2
_SAID = 6
_FOLDER = "DEBUGGER_COUNTED"
_OURS = "zz_debugger_counted.go"
_LISTED = (
    "{{if not .Standard}}{{if or (not .Module) .Module.Main}}"
    '{{.Name}}{{"\\t"}}{{.Dir}}{{"\\t"}}{{join .GoFiles "\\t"}}{{"\\n"}}{{end}}{{end}}'
)
# Counters are a file in memory: what was counted is there after a panic, a signal, a deadlock.
_COUNTERS = """package {package}

import (
\t"os"
\t"strconv"
\t"syscall"
\t"unsafe"
)

type debuggerCounts struct{{ Count []uint32 }}

func debuggerCounted(number string, parts int) debuggerCounts {{
\tfolder := os.Getenv("{folder}")
\tif folder == "" || parts == 0 {{
\t\treturn debuggerCounts{{make([]uint32, parts)}}
\t}}
\tname := folder + "/" + strconv.Itoa(os.Getpid()) + "-" + number
\tfile, failed := syscall.Open(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC, 0600)
\tif failed != nil {{
\t\treturn debuggerCounts{{make([]uint32, parts)}}
\t}}
\tdefer syscall.Close(file)
\tif syscall.Ftruncate(file, int64(4*parts)) != nil {{
\t\treturn debuggerCounts{{make([]uint32, parts)}}
\t}}
\tshared := syscall.PROT_READ | syscall.PROT_WRITE
\theld, failed := syscall.Mmap(file, 0, 4*parts, shared, syscall.MAP_SHARED)
\tif failed != nil {{
\t\treturn debuggerCounts{{make([]uint32, parts)}}
\t}}
\treturn debuggerCounts{{(*[1 << 26]uint32)(unsafe.Pointer(&held[0]))[:parts:parts]}}
}}
"""


class _Source(Struct, frozen=True):
    """A source of the program's own, as it was built."""

    file: str
    package: str
    text: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


class _Plain:
    """Nothing is recorded (`Recorder`): of the tools that we run."""

    def environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:  # noqa: ARG002
        """Change nothing."""
        return dict(env)

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Nothing is missing."""
        return False

    def read(
        self,
        folder: Path,  # noqa: ARG002 - a protocol
        pid: int,  # noqa: ARG002
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """There is nothing."""
        return (), ()


class InGo:
    """Counters of one built program (`Recorder`)."""

    def __init__(self, program: str, sources: Sequence[_Source], note: str = "") -> None:
        self.program = program
        self._sources = sources
        self._note = note

    def environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Name the folder that the counters are kept in."""
        counters = folder / "counters"
        counters.mkdir(mode=0o700)
        return {**env, _FOLDER: str(counters)}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Nothing is missing."""
        return False

    def read(self, folder: Path, pid: int) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the counters of each process, the program's own first."""
        found: dict[int, dict[int, Path]] = {pid: {}}
        for path in sorted((folder / "counters").iterdir()):
            process, _, number = path.name.partition("-")
            if process.isdigit() and number.isdigit():
                found.setdefault(int(process), {})[int(number)] = path
        numbers = sorted(found, key=lambda one: (one != pid, one))[:_PROCESSES_MAX]
        return tuple(self._recording(one, found[one]) for one in numbers), ()

    def _recording(self, pid: int, files: Mapping[int, Path]) -> Recording:
        ran = []
        for number, one in enumerate(self._sources):
            if number not in files:
                continue
            times = array("I")
            held = files[number].read_bytes()
            times.frombytes(held[: len(held) // times.itemsize * times.itemsize])
            blocks = [
                one._replace(times=count) for one, count in zip(one.blocks, times, strict=False)
            ]
            ran += covered(one.file, blocks, one.text)
        made = recording(ran, Process(pid=pid, language="go"))
        notes = (Noted("partly", 0, self._note),) if self._note else ()
        return structs.replace(made, events=(*made.events, *notes))


async def build(
    target: Target,
    folder: Path,
    *,
    env: Mapping[str, str],
    timeout_s: float,
    interrupted: asyncio.Event | None = None,
) -> InGo:
    """Build a program with counters in all sources of its own module, below a folder of ours.

    Raises:
        DebuggerError: LAUNCH_FAILED with what the compiler says; NOT_SUPPORTED without Go.
    """
    go = shutil.which("go", path=env.get("PATH", os.defpath))
    if go is None:
        raise DebuggerError(
            Code.NOT_SUPPORTED, "there is no go to build it with", hint="put go on the PATH"
        )
    is_file = target.what.endswith(".go")
    what = target.what if is_file else "."
    status, listed, said = await _said_by(
        [go, "list", "-deps", "-f", _LISTED, what], cwd=target.folder, env=env
    )
    if status:
        raise _failed(said, target)
    every = list(_sources(listed))
    sources = await _counted(go, every[:_FILES_MAX], folder, target.folder, env)
    replaced = {one.file: str(folder / f"{at}.go") for at, one in enumerate(sources)}
    ours = {}
    for one in sources:
        beside = str(Path(one.file).parent / _OURS)
        if beside not in replaced:
            ours[beside] = replaced[beside] = str(folder / f"counted-{len(replaced)}.go")
            text = _COUNTERS.format(package=one.package, folder=_FOLDER)
            Path(replaced[beside]).write_text(text, "utf-8")
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": replaced}))
    program = str(folder / "program")
    verb = ["test", "-c"] if target.mode == "test" else ["build"]
    more = list(ours) if is_file else []
    ran = await record(
        [go, *verb, "-o", program, f"-overlay={overlay}", what, *more],
        _Plain(),
        cwd=target.folder,
        env=env,
        timeout_s=timeout_s,
        scratch_root=folder,
        interrupted=interrupted,
    )
    if ran.is_timed_out or ran.status != 0:
        said = ran.text(Stream.STDERR) or ran.text(Stream.STDOUT)
        raise _failed("it takes too long" if ran.is_timed_out else said, target)
    left = len(every) - len(sources)
    return InGo(program, sources, f"of {left:,} more files nothing is known" if left else "")


def _sources(listed: str) -> list[_Source]:
    found = []
    for line in listed.splitlines():
        package, folder, *files = line.split("\t")
        found += [_Source(str(Path(folder, one)), package) for one in files if one]
    return found


async def _counted(
    go: str, sources: Sequence[_Source], folder: Path, cwd: str, env: Mapping[str, str]
) -> list[_Source]:
    """Write each source with its counters; those that the tool cannot read are left as they are."""
    _, tool, _ = await _said_by([go, "tool", "-n", "cover"], cwd=cwd, env=env)
    room = asyncio.Semaphore(_AT_ONCE)

    async def count(one: _Source) -> tuple[_Source, str]:
        name = "DebuggerCounted"
        words = [*tool.split("\n")[:1], "-mode=count", f"-var={name}", one.file]
        async with room:
            status, text, _ = await _said_by(words, cwd=cwd, env=env)
        return one, "" if status else text

    made = await asyncio.gather(*(count(one) for one in sources))
    found: list[_Source] = []
    for one, text in made:
        number = len(found)
        name = f"debuggerCounted{number}"
        with_name = text.replace("DebuggerCounted.", f"{name}.")
        with_name = with_name.replace("\nvar DebuggerCounted = ", f"\nvar {name} = ")
        parts = with_name.count(" // [")
        made_by = f'debuggerCounted("{number}", {parts})'
        written, blocks = with_counters(with_name, name, made_by)
        if not blocks:
            continue
        (folder / f"{number}.go").write_text(written, "utf-8")
        lines = Path(one.file).read_text("utf-8", "replace").split("\n")
        found.append(structs.replace(one, text=tuple(lines), blocks=blocks))
    return found


async def _said_by(
    words: Sequence[str], *, cwd: str, env: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run one of Go's tools; return its status and what it says."""
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
            Code.TIMEOUT,
            f"{' '.join(words[:3])} takes longer than {_TOOL_S:g} s",
            hint="go build ./... shows what it waits for",
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")


def _failed(said: str, target: Target) -> DebuggerError:
    lines = [one for one in said.splitlines() if one.strip() and not one.startswith("#")]
    what = target.what if target.what.endswith(".go") else "."
    return DebuggerError(
        Code.LAUNCH_FAILED,
        f"{Path(target.what).name} is not built: {'; '.join(lines[:_SAID])}",
        hint=f"cd {target.folder} && go build {what}",
    )
