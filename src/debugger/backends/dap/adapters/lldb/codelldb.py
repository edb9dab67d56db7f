"""Describes CodeLLDB, for C, C++ and Rust programs. Facts are of CodeLLDB 1.11.8 with LLDB 20."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger import paths
from debugger.backends import abilities
from debugger.backends.base import Attach, Launch, Logged, Printed, Started
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import profile as generic
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapters.lldb import abilities as own
from debugger.backends.dap.profile import Files, Found, Inside, Profile, Search
from debugger.backends.lldb import common, thrown, values
from debugger.backends.lldb_text import quoted
from debugger.core.events import Stream
from debugger.core.model import Frame, LoadedModule, Purpose, Reason, Stopped, Variable
from debugger.core.raw_effects import lldb_effect
from debugger.errors import Code, DebuggerError

_RUNS = ("Invalid thread_id.", "while the process is running.")
_WATCHPOINTS_FROM = 1_000_000  # the number of a watchpoint is added to it
_PIECE = 16_000  # characters; a longer text is cut (target.max-string-summary-length)
_TEXT_MAX = 1 << 17  # characters, two for each byte
_LAUNCHED = re.compile(r"(?:Launched|Attached to) process (\d+)")
_NOISE = ("Console is in ", "Executing script: ", "Launching: ", "Stop reason: ")
_FAILED_CONDITION = "Could not evaluate breakpoint condition"
_SAID = re.compile(r"(?:^|\n)(?:[\w.]+: )?(error: .*)\Z", re.DOTALL)
_THREAD = re.compile(r'\d+: tid=\d+ "(.*)"\Z')
_SIZE = re.compile(r"size=(\d+)\b")
_SCALAR = re.compile(r"-?\d[\d.e+-]*|true|false|'.*'")
_ARRAY = re.compile(r"\[(\d+)\]\Z")
_PAGE_MAX = 200
_MODULES_MAX = 1000
_RETURN_VALUE = "[return value]"
_ADAPTER_SETTINGS = {
    "consoleMode": "commands",
    "dereferencePointers": False,  # a pointer's value is an address
    "evaluationTimeout": 5,
    "showDisassembly": "never",
}


def _find(search: Search) -> Found | None:
    if search.path is not None:
        return _found(Path(search.path), search)
    # Our own installation comes before those of Visual Studio Code, newest first.
    places = [Path(paths.data_dir(search.env)) / "adapters" / "codelldb"]
    home = search.env.get("HOME")
    if home is not None:
        extensions = Path(home, ".vscode", "extensions").glob("vadimcn.vscode-lldb-*")
        places += sorted(extensions, key=_version, reverse=True)
    for place in places:
        file = place / "adapter" / "codelldb"
        if file.is_file():
            return _found(file, search)
    file_on_path = shutil.which("codelldb", path=search.env.get("PATH"))
    return _found(Path(file_on_path), search) if file_on_path is not None else None


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", folder.name))


def _found(file: Path, search: Search) -> Found:
    """Return the command, with the LLDB in the adapter's own folder, where there is one."""
    root = file.resolve().parent.parent
    # CodeLLDB carries an LLDB of its own (20, in 1.11.8).
    libraries = (root / "lldb" / "lib" / f"liblldb.{kind}" for kind in ("so", "dylib"))
    own = next((library for library in libraries if library.is_file()), None)
    words = ("--liblldb", str(own)) if own is not None else ()
    return Found((str(file), *words, *search.args), _told_version(root))


def _told_version(root: Path) -> str | None:
    for name in ("version.json", "package.json"):
        try:
            told = json.loads((root / name).read_text())
        except (OSError, ValueError):
            continue
        version = told.get("version") if isinstance(told, dict) else None
        if isinstance(version, str):
            return version
    return None


def _common(target: Launch | Attach, *more: str) -> dict[str, Any]:
    is_rust = common.is_rust(target)
    return {
        "type": "lldb",
        "initCommands": [*common.init_commands(target), *more],
        # Its own formatters are loaded behind those.
        "preRunCommands": [*common.CATEGORY_FIRST, *([common.RUST_FIRST] if is_rust else [])],
        "expressions": "native",
        # No terminal: the program's files are ours, by the settings in initCommands.
        "terminal": "console",
        "sourceLanguages": ["rust"] if is_rust else [],
        "_adapterSettings": _ADAPTER_SETTINGS,
    }


def _launch(launch: Launch, files: Files) -> dict[str, Any]:
    assert launch.program is not None
    streams = (("input", files.stdin), ("output", files.stdout), ("error", files.stderr))
    paths = (f"settings set target.{name}-path {quoted(path)}" for name, path in streams)
    return _common(launch, *paths) | {
        "request": "launch",
        "program": launch.program,
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": common.sendable(launch.env),
        "stopOnEntry": launch.stop_on_entry,
    }


def _attach(target: Attach) -> dict[str, Any]:
    told = _common(target) | {"request": "attach", "stopOnEntry": target.pause}
    program = quoted(target.program) if target.program is not None else ""
    if target.core is not None:
        create = f"target create --core {quoted(target.core)} {program}".strip()
        return told | {
            "request": "launch",
            "targetCreateCommands": [create],
            "processCreateCommands": [],
        }
    if target.connect is not None:
        # The server's program stays stopped: with stopOnEntry false, too.
        return told | {
            "request": "launch",
            "targetCreateCommands": [f"target create {program}"] if program else [],
            "processCreateCommands": common.server_commands(target),
        }
    if target.program is not None:
        told["program"] = target.program
    return told | {"pid": target.pid}


def _stopped(body: dap.StoppedBody) -> Stopped:
    plain = generic.stopped(body)
    if plain.reason is Reason.WATCHPOINT:
        hits = tuple(_WATCHPOINTS_FROM - hit for hit in plain.hits)
        return msgspec.structs.replace(plain, hits=hits)
    signal = common.signal_of(plain.description)
    if body.reason == "exception" and signal is not None:
        # A pause and the entry are reported as the SIGSTOP that caused them.
        if signal == "SIGSTOP":
            return msgspec.structs.replace(plain, reason=Reason.PAUSE, signal=signal)
        return msgspec.structs.replace(plain, reason=Reason.SIGNAL, signal=signal)
    return plain


async def _settle(inside: Inside, stop: Stopped) -> Stopped | None:
    """Distinguish an exception's stop from a breakpoint's, whose number is never reported.

    A pause right after a continue may be answered with a stop while the program runs on.
    """
    if stop.reason is Reason.PAUSE and stop.thread is not None:
        try:
            await inside.stack(stop.thread, levels=1)
        except DebuggerError as error:
            if not error.message.endswith(_RUNS):
                raise
            await inside.request("pause", ask.OfThread(stop.thread), dap.Body)
            return None
    if stop.reason is Reason.BREAKPOINT and stop.thread is not None:
        frames = (await inside.stack(stop.thread, levels=1)).frames
        if frames and frames[0].function in thrown.RUNTIME:
            return msgspec.structs.replace(stop, reason=Reason.EXCEPTION)
    return stop


def _printed(body: dap.OutputBody) -> Printed | Logged | Started | None:
    # A program that is launched writes to files of ours.
    if body.category == "stdout":
        return Printed(Stream.STDOUT, body.output.replace("\r\n", "\n"))
    launched = _LAUNCHED.match(body.output)
    if launched:  # there is no event for it
        return Started(int(launched[1]))
    is_noise = body.output.startswith((*_NOISE, _FAILED_CONDITION))
    if body.category == "telemetry" or is_noise:
        return None
    return Printed(Stream.CONSOLE, body.output)


def _problem(text: str) -> str:
    """Remove Python's traceback: the last line contains the message."""
    said = _SAID.search(text)
    if said is None and text.startswith("Traceback "):
        return text.strip().splitlines()[-1]
    return common.problem(said[1] if said else text)


def _refusal(why: str) -> str | None:
    return None if why.startswith("Resolved locations: ") else why


def _thread(body: dap.Thread) -> dap.Thread:
    match = _THREAD.match(body.name or "")
    return msgspec.structs.replace(body, name=match[1]) if match else body


async def _python(inside: Inside, words: str, frame: Frame | None, name: str) -> Variable:
    """Evaluate an expression of CodeLLDB's own Python."""
    arguments = ask.Evaluate(f"/py {words}", "watch", frame.handle if frame else None)
    try:
        body = await inside.request(
            "evaluate", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
        )
    except DebuggerError as error:
        raise DebuggerError(error.code, _problem(error.message), hint=error.hint) from error
    return convert.evaluated(name, body)


async def _evaluate(
    inside: Inside, expression: str, frame: Frame | None, purpose: Purpose
) -> Variable | None:
    """Evaluate as LLDB does: a path needs no compiler, and may name synthetic children."""
    if purpose is Purpose.RAW or frame is None:
        return None
    await values.refuse_misread(inside, expression, frame)
    return values.readable(await _python(inside, f"__eval({expression!r})", frame, expression))


async def _raw(inside: Inside, command: str, frame: Frame | None) -> str:
    """Run a command by CodeLLDB's Python, and return its output.

    A command in the console prints to the output events, unmarked. The text is read in pieces and
    in hexadecimal, because long values are cut and all are escaped.
    """
    place = "lldb.SBExecutionContext(lldb.frame), " if frame is not None else ""
    run = f"lldb.debugger.GetCommandInterpreter().HandleCommand({command!r}, {place}told, False)"
    words = '((told.GetOutput() or "") + (told.GetError() or "")).encode().hex()'
    ask_it = (
        f"(lambda told: ({run}, setattr(lldb, 'told', {words}), "
        f"lldb.told[:{_PIECE}])[-1])(lldb.SBCommandReturnObject())"
    )
    text = piece = _hexadecimal(await _python(inside, ask_it, frame, command))
    while len(piece) == _PIECE and len(text) < _TEXT_MAX:
        more = f"lldb.told[{len(text)}:{len(text) + _PIECE}]"
        piece = _hexadecimal(await _python(inside, more, frame, command))
        text += piece
    return bytes.fromhex(text).decode(errors="replace").strip("\n")


def _hexadecimal(told: Variable) -> str:
    """Remove the quotes of a text; a command that let the program run returns none."""
    text = told.value.strip('"')
    return text if re.fullmatch("(?:[0-9a-f]{2})*", text) else ""


async def _complete(inside: Inside, variables: Sequence[Variable]) -> list[Variable]:
    """Remove children that are shown elsewhere, and add the number of a container's elements."""
    hidden = {_RETURN_VALUE, values.RAW}
    kept = [one for one in variables if one.name not in hidden]
    shown = await values.complete(inside, kept, is_doubtful=_omits)
    return [_sized(one) for one in shown]


def _omits(one: Variable) -> bool:
    """Return whether a value is a struct's: CodeLLDB omits members that are structs themselves."""
    return one.value.startswith("{")


def _sized(one: Variable) -> Variable:
    if _SCALAR.fullmatch(one.value):  # Rust's too have a child: themselves, as they are in memory
        return msgspec.structs.replace(one, handle=0)
    match = _SIZE.match(one.value) or _ARRAY.search(one.type)
    if match is None or not one.handle:
        return one
    return msgspec.structs.replace(one, indexed=int(match[1]))


async def _page(inside: Inside, value: Variable, start: int, count: int) -> list[Variable] | None:
    """Read some elements one by one: the request returns all, 20,000 in more than a second."""
    if value.indexed is None or value.expression is None or count > _PAGE_MAX:
        return None
    whole = f"__import__('codelldb').unwrap(__eval({value.expression!r}))"
    found = []
    for at in range(start, min(start + count, value.indexed)):
        element = f"{whole}.GetChildAtIndex({at})"
        one = await _python(inside, element, inside.looked_at, f"[{at}]")
        found.append(msgspec.structs.replace(one, expression=f"{value.expression}[{at}]"))
    return await _complete(inside, found)


async def _returned(inside: Inside, stop: Stopped, frame: Frame) -> Variable | None:
    """Read a function's return value; the stop does not report a step out."""
    if stop.reason is not Reason.STEP:
        return None
    return await values.read_returned(inside, frame)


class Modules:
    """The modules request, whose addresses are hexadecimal without saying so."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def modules(self) -> list[LoadedModule]:
        """Return the loaded modules."""
        body = await self._inside.request(
            "modules", ask.Modules(start_module=0, module_count=_MODULES_MAX), dap.ModulesBody
        )
        return [
            convert.module(msgspec.structs.replace(one, address_range=f"0x{one.address_range}"))
            for one in body.modules[:_MODULES_MAX]
        ]


PROFILE = Profile(
    name="codelldb",
    languages=common.LANGUAGES,
    install="debugger setup codelldb --yes",
    find=_find,
    launch=_launch,
    attach=_attach,
    is_terminal=True,
    # LLDB's own detach may leave a trap in the code: see `dap.leaving`.
    clears=True,
    raw=_raw,
    raw_effect=lldb_effect,
    evaluate=_evaluate,
    assigns_by_expression=True,
    catches=common.CATCHES,
    catch_functions=common.CATCH_FUNCTIONS,
    abilities={
        kind: make for kind, make in own.ABILITIES.items() if kind is not abilities.InstructionSteps
    }
    | {abilities.Modules: Modules},
    has=own.HAS - {abilities.Modules} | {abilities.InstructionSteps},
    failed_conditions_stop=True,
    keeps_steps=True,
    steps=functools.partial(own.steps, counts_alone=True, misplaces=True),
    settle=_settle,
    settled=frozenset({Reason.BREAKPOINT, Reason.PAUSE, Reason.SIGNAL}),
    hit_condition=lambda count: f">={count}",
    thread=_thread,
    refusal=_refusal,
    stopped=_stopped,
    printed=_printed,
    exited=common.exited,
    exception=thrown.exception,
    details=common.details,
    problem=_problem,
    explain=common.explain,
    arguments=common.arguments,
    complete=_complete,
    page=_page,
    returned=_returned,
)
