"""lldb-dap: C, C++ and Rust programs. Facts are of lldb-dap 19.1.7."""

from __future__ import annotations

import functools
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.base import Attach, Launch, Logged, Printed
from debugger.backends.dap import messages as dap
from debugger.backends.dap import profile as generic
from debugger.backends.dap.adapters import lldb_values
from debugger.backends.dap.profile import Files, Found, Inside, Profile, Search
from debugger.core.breakpoints import Bound, Kind, Spec
from debugger.core.events import Stream
from debugger.core.locate import near_names, nearest_lines, plain_function
from debugger.core.model import ExceptionDetails, Exited, Frame, Purpose, Reason, Stopped
from debugger.errors import Code, DebuggerError
from debugger.targets.program import Program, look

_NEWEST_FIRST = range(30, 13, -1)
_RUST_VARIANTS = str(Path(__file__).with_name("lldb_rust.py"))
_XCRUN_S = 10
_SIGNAL = re.compile(r"signal (SIG[A-Z0-9]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WATCHPOINT = re.compile(r"watchpoint \d+")
_LINE_TABLE = re.compile(r"^0x[0-9a-f]+: (?P<file>.+?):(?P<line>\d+)", re.MULTILINE)
_INTERRUPTED = re.compile(r"(?:error: )*Execution was interrupted, reason: (.*)")
_PLACE = re.compile(r"^(?:error: )+(?:<user expression \d+>:\d+:\d+: )?", re.MULTILINE)
_SUMMARY = re.compile(r"Summary: \S+`(?P<name>.+?)(?: \+ \d+)?(?: at [^\n]*)?$", re.MULTILINE)
# Start to first stop 360-600 ms without these, 180-250 ms with them.
_FAST = (
    "settings set target.preload-symbols false",
    "settings set symbols.enable-external-lookup false",
    "settings set target.debug-file-search-paths /nonexistent",
    "settings set auto-confirm true",
    "settings set target.max-string-summary-length 16384",
)


def _find(search: Search) -> Found | None:
    if search.path is not None:
        return Found((search.path, *search.args))
    path = search.env.get("PATH")
    names = ["lldb-dap", *(f"lldb-dap-{number}" for number in _NEWEST_FIRST)]
    for name in names:
        found = shutil.which(name, path=path)
        if found is not None:
            # By its absolute path: it looks for its own libraries and lldb-server from there.
            return Found((str(Path(found).absolute()), *search.args))
    if sys.platform == "darwin":
        return _find_by_xcrun(search)
    for number in _NEWEST_FIRST:
        file = Path(f"/usr/lib/llvm-{number}/bin/lldb-dap")
        if file.exists():
            return Found((str(file), *search.args))
    return None


def _find_by_xcrun(search: Search) -> Found | None:
    try:
        answer = subprocess.run(
            ["/usr/bin/xcrun", "--find", "lldb-dap"],
            capture_output=True,
            text=True,
            timeout=_XCRUN_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Found((answer.stdout.strip(), *search.args))


@functools.lru_cache(maxsize=8)
def _rust_commands(path: str) -> tuple[str, ...]:
    """Return the commands that load the Rust formatters of the caller's toolchain."""
    rustc = shutil.which("rustc", path=path)
    if rustc is None:
        return ()
    try:
        answer = subprocess.run(
            [rustc, "--print", "sysroot"],
            capture_output=True,
            text=True,
            timeout=_XCRUN_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    scripts = Path(answer.stdout.strip()) / "lib" / "rustlib" / "etc"
    if not (scripts / "lldb_commands").is_file():
        return ()
    return (
        f"command script import {quoted(str(scripts / 'lldb_lookup.py'))}",
        f"command source -s true {quoted(str(scripts / 'lldb_commands'))}",
        f"command script import {quoted(_RUST_VARIANTS)}",
    )


def quoted(word: str) -> str:
    """Quote a word for LLDB's command line.

    Raises:
        DebuggerError: USAGE for a control character: a newline would begin another command.
    """
    if any(ord(letter) < ord(" ") for letter in word):
        raise DebuggerError(Code.USAGE, f"a control character in {word!r}")
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _launch(launch: Launch, files: Files) -> dict[str, Any]:
    assert launch.program is not None
    commands = list(_FAST)
    if look(launch.program).language == "rust":
        commands += _rust_commands(launch.env.get("PATH", ""))
    for name, path in (("input", files.stdin), ("output", files.stdout), ("error", files.stderr)):
        commands.append(f"settings set target.{name}-path {quoted(path)}")
    return {
        "type": "lldb-dap",
        "request": "launch",
        "program": launch.program,
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": _sendable(launch.env),
        "stopOnEntry": launch.stop_on_entry,
        "initCommands": commands,
        "enableAutoVariableSummaries": True,
    }


def _sendable(env: Mapping[str, str]) -> dict[str, str]:
    """Leave out what JSON cannot carry: the program has it from the adapter's own environment."""
    return {key: value for key, value in env.items() if not _SURROGATE.search(key + value)}


def _attach(target: Attach) -> dict[str, Any]:
    return {
        "type": "lldb-dap",
        "request": "attach",
        "pid": target.pid,
        "stopOnEntry": target.pause,
        "initCommands": list(_FAST),
        "enableAutoVariableSummaries": True,
    } | ({"program": target.program} if target.program else {})


def _stopped(body: dap.StoppedBody) -> Stopped:
    plain = generic.stopped(body)
    if _WATCHPOINT.search(plain.description):
        return msgspec.structs.replace(plain, reason=Reason.WATCHPOINT)
    match = _SIGNAL.search(plain.description)
    if body.reason == "exception" and match:
        # A pause and the entry are told as the SIGSTOP that made them.
        if match[1] == "SIGSTOP":
            return msgspec.structs.replace(plain, reason=Reason.PAUSE)
        return msgspec.structs.replace(plain, reason=Reason.SIGNAL, signal=match[1])
    return plain


def _printed(body: dap.OutputBody) -> Printed | Logged | None:
    # The program writes to files of ours; everything that comes here is LLDB's own.
    if body.category == "telemetry" or body.output.startswith("Running "):
        return None
    return Printed(Stream.CONSOLE, body.output)


def _exited(code: int | None, last_signal: str | None) -> Exited:
    """Tell a death by signal N from an exit with status N, which lldb-dap both gives as N."""
    if last_signal is not None and code == getattr(signal, last_signal, None):
        return Exited(signal=last_signal)
    if code in {signal.SIGKILL, signal.SIGALRM}:  # LLDB does not stop for these
        name = signal.Signals(code).name
        return Exited(code=code, doubt=f"lldb-dap tells status {code} and a death by {name} alike")
    return Exited(code=code)


def _problem(text: str) -> str:
    """Leave out LLDB's own prefixes, and say what its `interrupted` means."""
    interrupted = _INTERRUPTED.match(text)
    if interrupted and not interrupted[1].startswith("signal"):
        # The reason is the stop before: breakpoints inside a called function do not stop it.
        return "it did not finish in time and was interrupted; the program is as it was"
    return _PLACE.sub("", text)


def _details(details: ExceptionDetails) -> ExceptionDetails:
    match = _SIGNAL.match(details.message)
    if match:
        rest = details.message[match.end() :].lstrip(": ")
        return ExceptionDetails(type=match[1], message=rest)
    return details


async def _arguments(inside: Inside, frame: Frame) -> list[str] | None:
    try:
        text = await inside.raw("frame variable --no-locals", frame)
    except DebuggerError:
        return None
    return re.findall(r"^\(.*?\) ([A-Za-z_$][\w$]*) = ", text, re.MULTILINE)


async def _explain(inside: Inside, spec: Spec) -> Bound:
    program = look(inside.launched.program) if inside.launched and inside.launched.program else None
    if spec.kind is Kind.FUNCTION:
        return await _explain_function(inside, spec, program)
    if spec.file is None or spec.line is None:
        return Bound(verified=False, why="no code at this address")
    unbound = Bound(verified=False, file=spec.file, line=spec.line)
    if program is not None and not program.has_debug_info:
        why = "the program has no debug information: compile it with -g"
        return msgspec.structs.replace(unbound, why=why)
    name = Path(spec.file).name
    table = await inside.raw(f"target modules dump line-table {quoted(name)}", None)
    lines = [
        int(match["line"])
        for match in _LINE_TABLE.finditer(table)
        if Path(match["file"]).name == name
    ]
    if not lines:
        why = f"no such file in the program: {name}"
        return msgspec.structs.replace(unbound, why=why)
    near = nearest_lines(spec.line, [line for line in lines if line > 0])
    return msgspec.structs.replace(
        unbound, why=f"no code at {name}:{spec.line}", nearest_lines=near
    )


async def _explain_function(inside: Inside, spec: Spec, program: Program | None) -> Bound:
    assert spec.function is not None
    why = f"no function {spec.function} in the program"
    if program is not None and not program.has_debug_info:
        why += ", which has no debug information: compile it with -g"
    words = re.findall(r"[A-Za-z0-9]{2,}", spec.function)
    stem = re.escape(max(words, key=len)[:3]) if words else ""
    module = (
        Path(inside.launched.program).name if inside.launched and inside.launched.program else ""
    )
    text = ""
    if stem and module:
        text = await inside.raw(f"image lookup -r -n {quoted(stem)} {quoted(module)}", None)
    names = [plain_function(match["name"]) for match in _SUMMARY.finditer(text)]
    return Bound(verified=False, why=why, near_names=near_names(spec.function, names))


PROFILE = Profile(
    name="lldb-dap",
    languages=("c", "c++", "rust", "swift", "native"),
    install="apt install lldb-19 (Debian), brew install llvm (macOS)",
    find=_find,
    launch=_launch,
    attach=_attach,
    is_terminal=True,
    contexts={
        Purpose.PRINT: ("watch", "hover"),
        Purpose.EVALUATE: ("watch",),
        Purpose.RAW: ("repl",),
    },
    raw_prefix="`",
    assigns_by_expression=True,
    detach_s=8.0,  # it takes 5 s for a program that it launched
    failed_conditions_stop=True,
    function_answers_are_ordered=False,
    stopped=_stopped,
    printed=_printed,
    exited=_exited,
    details=_details,
    problem=_problem,
    explain=_explain,
    arguments=_arguments,
    complete=lldb_values.complete,
    returned=lldb_values.returned,
)
