"""gdb: C, C++ and Rust programs by gdb's own adapter. Facts are of gdb 16.3.

What it lacks is added inside gdb (`gdb_inside` and the files that it loads).
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends import abilities, native
from debugger.backends.base import Attach, ConditionFailed, Launch, Logged, Printed
from debugger.backends.dap import messages as dap
from debugger.backends.dap import profile as generic
from debugger.backends.dap.adapters.gdb import abilities as gdb_abilities
from debugger.backends.dap.adapters.gdb.asked import said
from debugger.backends.dap.profile import Files, Found, Inside, Profile, Search
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.events import Stream
from debugger.core.locate import plain_function
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Reason,
    ScopeKind,
    Stopped,
    Variable,
)
from debugger.core.raw_effects import gdb_effect
from debugger.errors import Code, DebuggerError
from debugger.paths import data_dir
from debugger.targets.process import command_line
from debugger.targets.program import look

OLDEST = 14  # the first with an adapter of its own
_ASK_S = 10.0
_INSIDE = str(Path(__file__).parent / "inside" / "gdb_inside.py")
_VERSION = re.compile(r"^GNU gdb \(.*\) (?P<version>(?P<major>\d+)\.[\d.]+)", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGNAL = re.compile(r"(SIG[A-Z0-9]+): ?")
_FAILED_CONDITION = "[[condition]] "
# Scripts that come with libraries: libstdc++'s printers.
_SCRIPTS = ("/usr/share/gdb/auto-load", "/usr/local/share/gdb/auto-load")
# What gdb may load: these scripts, and libthread_db. A program's own folder is not among them.
_TRUSTED = (*_SCRIPTS, "/usr/lib", "/lib", "/lib64", "/usr/lib64")


class ExceptionBody(dap.Body, frozen=True):
    """The answer to `debuggerException`."""

    type: str
    message: str = ""


class ExplainBody(dap.Body, frozen=True):
    """The answer to `debuggerExplain`."""

    lines: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


# -- where it is -----------------------------------------------------------------------------------


def _find(search: Search) -> Found | None:
    if search.path is not None:
        return _started(search.path, search, None)
    on_path = shutil.which("gdb", path=search.env.get("PATH"))
    for file in (on_path, f"{data_dir(search.env)}/adapters/gdb/gdb"):
        version = _version_of(file) if file is not None else None
        if file is not None and version is not None:
            return _started(str(Path(file).absolute()), search, version)
    return None


def _started(file: str, search: Search, version: str | None) -> Found:
    return Found(
        (
            *(file, "-q", "-nx"),
            *("-iex", "set debuginfod enabled off"),
            *("-iex", f"set auto-load safe-path {':'.join(_TRUSTED)}"),
            *("-iex", f"add-auto-load-scripts-directory {':'.join(_SCRIPTS)}"),
            *("-iex", f"source {_INSIDE}"),
            *("-i", "dap"),
            *search.args,
        ),
        version=version,
    )


def _version_of(file: str) -> str | None:
    """Return the version of a gdb that can be used; None for one that is too old, or no gdb."""
    answer = said(file, "-ex", "show version", "-ex", "python print('has', 'python')")
    return version_in(answer) if answer is not None else None


def version_in(answer: str) -> str | None:
    """Read a version out of what gdb says; None if it is too old, or without Python."""
    match = _VERSION.search(answer)
    if match is None or int(match["major"]) < OLDEST or "has python" not in answer:
        return None
    return match["version"].rstrip(".")


# -- how a program begins --------------------------------------------------------------------------


def plain(word: str) -> str:
    """Check a word for gdb's command line.

    Raises:
        DebuggerError: USAGE for a control character: a newline would begin another command.
    """
    if any(ord(letter) < ord(" ") for letter in word):
        raise DebuggerError(Code.USAGE, f"a control character in {word!r}")
    return word


def _launch(launch: Launch, files: Files) -> dict[str, Any]:
    assert launch.program is not None
    env = launch.env
    return {
        "program": plain(launch.program),
        "args": list(launch.args),
        "env": {key: value for key, value in env.items() if not _SURROGATE.search(key + value)},
        "stopOnEntry": launch.stop_on_entry,
        "stdio": [files.stdin, files.stdout, files.stderr],
        "scripts": _rust_scripts(launch.program, env.get("PATH", "")),
    }


def _rust_scripts(program: str, path: str) -> str | None:
    return _rust_folder(path) if look(program).language == "rust" else None


@functools.lru_cache(maxsize=8)
def _rust_folder(path: str) -> str | None:
    """Return where the caller's toolchain has its formatters."""
    rustc = shutil.which("rustc", path=path)
    if rustc is None:
        return None
    try:
        answer = subprocess.run(
            [rustc, "--print", "sysroot"],
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    folder = Path(answer.stdout.strip()) / "lib" / "rustlib" / "etc"
    return str(folder) if (folder / "gdb_lookup.py").is_file() else None


def _attach(target: Attach) -> dict[str, Any]:
    asked: dict[str, Any] = {"stops": target.pause}
    if target.program is not None:
        asked["program"] = plain(target.program)
    if target.core is not None:
        return asked | {"core": plain(target.core)}
    if target.connect is not None:
        host, port = target.connect
        named = f"[{host}]" if ":" in host else host
        return asked | {"target": plain(f"{named}:{port}")}
    return asked | {"pid": target.pid}


def _forked(launched: Launch | None) -> dict[str, Any]:
    if launched is None or launched.program is None:
        return {"forked": True}
    scripts = _rust_scripts(launched.program, launched.env.get("PATH", ""))
    return {"forked": True, "scripts": scripts}


def _words(pid: int) -> tuple[str, ...]:
    """Return the program that a process runs, by its own path, and its arguments."""
    try:
        program = str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ()
    return (program, *command_line(pid)[1:])


# -- what it tells ---------------------------------------------------------------------------------


def _stopped(body: dap.StoppedBody) -> Stopped:
    plainly = generic.stopped(body)
    match = _SIGNAL.match(plainly.description)
    if plainly.reason is Reason.SIGNAL and match:
        return msgspec.structs.replace(plainly, signal=match[1])
    return plainly


def _printed(body: dap.OutputBody) -> Printed | Logged | ConditionFailed | None:
    # The program writes to files of ours; everything that comes here is gdb's own.
    if body.output.startswith(_FAILED_CONDITION):
        return ConditionFailed(None, body.output.removeprefix(_FAILED_CONDITION))
    return Printed(Stream.CONSOLE, body.output)


def _problem(text: str) -> str:
    """Say in short what became of a function that was called."""
    line = " ".join(text.split())
    if "while in a function called from GDB" not in line and "std::terminate call" not in line:
        return text
    received = re.search(r"received signal (SIG[A-Z0-9]+)", line)
    how = "did not finish in time"
    if received:
        how = f"received {received[1]}"
    elif "std::terminate call" in line:
        how = "threw an exception that nobody caught"
    return f"the function that was called {how} and was given up; the program is as it was"


async def _exception(inside: Inside, stop: Stopped) -> ExceptionDetails | None:
    if stop.thread is None or stop.reason not in {Reason.EXCEPTION, Reason.SIGNAL}:
        return None
    asked = {"threadId": stop.thread, "signal": stop.signal}
    body: ExceptionBody = await inside.request("debuggerException", asked, ExceptionBody)
    return ExceptionDetails(type=body.type, message=body.message)


async def _arguments(inside: Inside, frame: Frame) -> list[str] | None:
    known = [one for one in await inside.scopes(frame) if one.kind is ScopeKind.ARGUMENTS]
    return [
        variable.name
        for scope in known
        for variable in await inside.fetch(scope.handle, start=None, count=None)
    ]


async def _returned(inside: Inside, stop: Stopped, frame: Frame) -> Variable | None:
    """Read what a function returned, which gdb has as a scope after a step out of it."""
    if stop.reason is not Reason.STEP or frame.index:
        return None
    scope = next((one for one in await inside.scopes(frame) if one.name == "Return"), None)
    if scope is None:
        return None
    found = await inside.fetch(scope.handle, start=None, count=None)
    return found[0] if found else None


# -- why a breakpoint does not bind ----------------------------------------------------------------


async def _explain(inside: Inside, spec: Spec) -> Bound:
    async def ask(**wanted: str) -> ExplainBody:
        body: ExplainBody = await inside.request("debuggerExplain", wanted, ExplainBody)
        return body

    async def lines(file: str) -> Iterable[int]:
        return (await ask(file=file)).lines

    async def names(function: str, stem: str) -> Iterable[str]:
        return map(plain_function, (await ask(function=function, stem=stem)).names)

    program = inside.launched.program if inside.launched is not None else None
    return await native.explain(program, spec, lines=lines, names=names)


def _site(one: Breakpoint) -> object:
    """Return what gdb tells breakpoints apart by: what was sent, all of it."""
    at, spec = one.at or one.spec, one.spec
    return (at.line, at.function, at.catch, at.type, spec.condition, spec.hit_count, spec.log)


PROFILE = Profile(
    name="gdb",
    languages=("c", "c++", "rust", "native"),
    install="apt install gdb (Debian 13, Ubuntu 24.04: 14 or later is needed)",
    find=_find,
    launch=_launch,
    attach=_attach,
    forked=_forked,
    words=_words,
    is_terminal=True,
    contexts={
        Purpose.PRINT: ("watch",),
        Purpose.EVALUATE: ("watch",),
        Purpose.RAW: ("repl",),
    },
    catches={"throw": "throw", "catch": "catch", "rethrow": "rethrow"},
    catch_functions={"panic": "rust_panic"},
    site=_site,
    functions_log=True,
    raw_effect=gdb_effect,
    abilities={
        abilities.Watchpoints: gdb_abilities.Watchpoints,
        abilities.Registers: gdb_abilities.Registers,
        abilities.Jump: gdb_abilities.Jump,
    },
    has=frozenset(
        {
            abilities.Disassembly,
            abilities.Exceptions,
            abilities.InstructionBreakpoints,
            abilities.InstructionSteps,
            abilities.Memory,
            abilities.Modules,
            abilities.RawCommands,
            abilities.ReturnValues,
            abilities.ThreadsAlone,
        }
    ),
    hit_condition=lambda count: str(count - 1),  # as many are ignored
    stopped=_stopped,
    printed=_printed,
    exited=generic.exited_or_killed,  # what runs inside gdb tells so
    exception=_exception,
    problem=_problem,
    explain=_explain,
    arguments=_arguments,
    returned=_returned,
)
