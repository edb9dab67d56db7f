"""Describes js-debug, for programs of Node's. Facts are of js-debug 1.112 with Node 20.20."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from debugger.backends import abilities
from debugger.backends.adapters.js_debug import js_attach, js_breakpoints, js_values
from debugger.backends.adapters.js_debug.js_breakpoints import (
    FAILED,
    UNBOUND,
    JsBreakpointSender,
    column_of,
)
from debugger.backends.adapters.js_debug.js_made_functions import parse_mark
from debugger.backends.base import (
    BreakpointChanged,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
)
from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_abilities import DapLoadedSources
from debugger.backends.dap.debug_adapter import (
    AdapterConnection,
    AdapterLocation,
    AdapterSearch,
    DebugAdapter,
    StreamFiles,
)
from debugger.backends.dap.two_connection_launch import PendingLaunch
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, Runtime
from debugger.model.events import OutputStream
from debugger.model.location import nearest_lines
from debugger.model.program import (
    EvaluationPurpose,
)
from debugger.paths import data_dir
from debugger.sources import javascript_outline as source
from debugger.system.node_options import NODE_S, split_options
from debugger.system.process_info import command_line

_BEGIN = Path(__file__).with_name("begin.cjs")
_LISTENS = r"listening at .*:(?P<port>\d+)"
_SERVERS = ("vsDebugServer.cjs", "src/dapDebugServer.js", "js-debug/src/dapDebugServer.js")
_TYPESCRIPT = {".ts", ".cts", ".mts", ".tsx"}
_JAVASCRIPT = (".js", ".cjs", ".mjs")
_LOADER = re.compile(r"(?:\A|\s)(?:-r|--require|--import|--(?:experimental-)?loader)\b")
# Seconds to the beginning of a program: a loader such as tsx compiles before that.
_BEGIN_S = 30.0
_ATTACHED_S = 1.0
# A Unix socket's path has at most 107 bytes (unix(7): sun_path), with js-debug's longest name.
_SOCKET_MAX = 107 - len("/node-cdp.4194304-01234567-99.sock")
_WORKER = re.compile(r"-\d+\Z")
_PID = re.compile(r"\[(\d+)\]\Z")
_FAILED = re.compile(re.escape(FAILED) + r"(\d{1,9})\]\] ")
# What a debugger's presence makes Node write to standard error.
_PRESENCE = ("Debugger attached.\n", "Waiting for the debugger to disconnect...\n")
# js-debug's own words come by the way of the program's.
_OWN_WORDS = re.compile(r"Syntax error setting breakpoint|WARNING: Processing source-maps")
# What may be before a function's code on its line without being code itself.
_DECLARES = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:static\s+|async\s+|get\s+|set\s+)*(?:function\b[^={]*|[\w$#]+\s*"
    r"\([^=]*\)\s*)\{\s*\Z"
)
_INTERNAL = re.compile(r"\A(?:<node_internals>|node:)")
_ROOTS = ("package.json", "tsconfig.json")


def _server_paths(search: AdapterSearch) -> Iterator[Path]:
    """Yield the paths of the configuration, of our own installation, and of editors."""
    if search.path is not None:
        own = Path(search.path)
        yield own
        # The path may be the server's file, or a folder that contains it.
        yield from (own / name for name in _SERVERS)
        return
    ours = Path(data_dir(search.env), "adapters", "js-debug")
    yield from (ours / name for name in _SERVERS)
    home = Path(search.env.get("HOME") or Path.home())
    editors = sorted(home.glob(".vscode*/extensions/ms-vscode.js-debug*"), reverse=True)
    mason = home / ".local/share/nvim/mason/packages/js-debug-adapter"
    for folder in (*editors, mason):
        yield from (folder / name for name in _SERVERS)


def _server_version(server: Path) -> str | None:
    # The first is of our own installation, the second of an editor's extension.
    for file in (server.parent / "manifest.json", server.parent.parent / "package.json"):
        try:
            package = json.loads(file.read_text(encoding="utf-8")).get("version")
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(package, str):
            return package.removeprefix("v")
    return None


def _words_to_run(launch: LaunchTarget) -> dict[str, Any]:
    """Return the launch arguments by which exactly the requested program runs.

    js-debug runs instead of a `program` any file whose source map names it as a source. This is
    right only for TypeScript that Node does not load by itself.
    """
    # With a loader (tsx, ts-node) Node runs the TypeScript file itself.
    options = launch.env.get("NODE_OPTIONS", "")
    is_compiled = Path(launch.program or "").suffix in _TYPESCRIPT and not _LOADER.search(options)
    if launch.program is None or (is_compiled and not _strips_types(launch)):
        return {"program": launch.program, "args": list(launch.args)}
    # As an argument of Node's the program is not looked up in source maps.
    return {"args": [launch.program, *launch.args]}


def _strips_types(launch: LaunchTarget) -> bool:
    """Return whether Node itself runs TypeScript, as it does from 22.18 on by default."""
    node = shutil.which("node", path=launch.env.get("PATH", os.defpath))
    words = (node or "node", "-p", "process.features.typescript")
    try:
        done = subprocess.run(
            words, check=False, env=launch.env, capture_output=True, timeout=NODE_S, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() in {"strip", "transform"}


def _project_root(program: str | None, cwd: str) -> str:
    """Return the folder of a program's project, whose source maps are looked through."""
    folder = Path(program).parent if program else Path(cwd)
    for one in (folder, *folder.parents):
        if any((one / name).is_file() for name in _ROOTS):
            return str(one)
    return str(folder)


def _correct_breakpoint(
    connection: AdapterConnection, spec: BreakpointSpec, *, explain: bool = False
) -> BreakpointSpec | BoundBreakpoint:
    """Find a function's first line: js-debug has no function breakpoints."""
    if spec.file is not None and not Path(spec.file).is_file():
        why = f"no such file: {spec.file}"
        return BoundBreakpoint(verified=False, file=spec.file, line=spec.line, why=why)
    if spec.kind is BreakpointKind.LINE:
        return spec
    launched, attached = connection.launch_target, connection.attach_target
    return js_breakpoints.find_function(launched, attached, spec, explain=explain)


async def _code_lines(connection: AdapterConnection, file: str) -> list[int]:
    """Return the lines of a loaded file that have code."""
    # breakpointLocations takes the whole file in one request.
    last = len(Path(file).read_bytes().splitlines()) + 1
    arguments = {"source": {"path": file}, "line": 1, "endLine": last}
    body = await connection.send_request("breakpointLocations", arguments, dap.LocationsBody)
    return sorted({one.line for one in body.breakpoints if one.line})


def _is_after_code(one: Breakpoint) -> bool:
    at, column = one.at or one.spec, column_of(one)
    if column is None or at.file is None or at.line is None:
        return False
    before = source.line_of(at.file, at.line)[: column - 1]
    # js-debug has one breakpoint for a line: only code before the function on its line makes the
    # column count.
    return bool(before.strip()) and not _DECLARES.match(before)


class NodeLaunch:
    """Launches a program of Node: js-debug launches on one connection and debugs on another."""

    def read_child_pid(self, configuration: Mapping[str, Any]) -> int | None:
        """Read the process from a session's name; a worker is none of its own."""
        # A worker_thread is a session of js-debug's within its process.
        if _WORKER.search(str(configuration.get("__pendingTargetId", ""))):
            return None
        found = _PID.search(str(configuration.get("name", "")))
        # js-debug sends no process event: the pid is in the session's name, `m.js [4601]`.
        return int(found[1]) or None if found is not None else None

    def adapter_environment(self, scratch: Path) -> dict[str, str]:
        """Return the environment that makes js-debug put its files into the scratch directory.

        The guard removes them there. Nothing is changed where the name of js-debug's socket would
        be too long.
        """
        return {"TMPDIR": str(scratch)} if len(os.fsencode(scratch)) <= _SOCKET_MAX else {}

    def program_environment(self, variables: Mapping[str, str | None]) -> Mapping[str, str | None]:
        """Return the environment in which each process waits for its breakpoints."""
        # js-debug's bootloader has to come first: it connects to js-debug, and our file, which
        # stops at its `debugger` statement, comes next. The user's own options follow.
        options = variables.get("NODE_OPTIONS") or ""
        ours = f'--require "{_BEGIN}"'
        loader, found, rest = options.partition("bootloader.js")
        quote = '"' if rest.startswith('"') else ""
        if not found:
            return {**variables, "NODE_OPTIONS": f"{options} {ours}"}
        return {
            **variables,
            "NODE_OPTIONS": f"{loader}{found}{quote} {ours} {rest.removeprefix(quote)}",
        }

    def note_replaced_program(self, launch: LaunchTarget, words: Sequence[str]) -> str | None:
        """Return a note on the file that runs in place of the requested program."""
        program = launch.program
        if program is None or program in words:
            return None
        file = next((one for one in words if one.endswith(_JAVASCRIPT)), None)
        if file is None:
            return None
        file = str(Path(launch.cwd, file))
        shown = os.path.relpath(file, launch.cwd)
        # A result that is not what was requested has to be said: the source may be newer than the
        # file that runs.
        name = Path(program).name
        text = f"{shown} runs: its source map names {name}, which Node does not run itself"
        try:
            is_stale = Path(file).stat().st_mtime < Path(program).stat().st_mtime
        except OSError:
            is_stale = False
        return (
            f"{text}; it is older than {Path(program).name}: compile it again" if is_stale else text
        )

    def remove_debugger_output(self, stream: OutputStream, text: str) -> str:
        """Remove what only a debugger's presence makes Node write."""
        if stream is OutputStream.STDERR:
            for line in _PRESENCE:
                text = text.replace(line, "")
        return text

    async def begin_program(self, connection: AdapterConnection, launch: PendingLaunch) -> None:
        """Run a process up to our own line in it; a worker begins with its breakpoints set."""
        if _WORKER.search(str(launch.configuration.get("__pendingTargetId", ""))):
            return
        # Attached: the process runs already, and does not stop at a line of ours.
        if connection.launch_target is None:
            await launch.begin_program()
            if connection.breakpoint_sender is not None:
                await connection.breakpoint_sender.end_replay()
            await js_attach.wait_for_start(connection, launch, within_s=_ATTACHED_S)
            return
        await launch.begin_program()
        # The stop at our line. Breakpoints set now bind at once, since `begin.cjs` has compiled the
        # program's file; set before, js-debug would report them as unbound until it is loaded.
        if await launch.wait_first_stop(_BEGIN_S) is None:
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                "the program did not reach its beginning",
                hint="debugger start runs it again; debugger doctor tries each adapter",
            )

    def make_breakpoint_sender(self, connection: AdapterConnection) -> JsBreakpointSender:
        """Make the object that sends breakpoints, which are bound as scripts are loaded."""
        return JsBreakpointSender(connection)

    async def leave_program(self, connection: AdapterConnection) -> str | None:
        """Close the inspector that an attach opened; return a note where it stays open."""
        return await js_attach.close_inspector(connection)

    def end_program(self, connection: AdapterConnection) -> None:
        """End an attached process, which js-debug only disconnects from."""
        js_attach.end_process(connection)


class JsDebugAdapter(DebugAdapter):
    """js-debug, for programs of Node."""

    name = "js-debug"
    languages = ("javascript",)
    traits = DebuggerTraits(
        own_programs=("node",),
        helper_words=("js-debug",),
        runtime=Runtime.NODE,
        changes_breakpoints_live=True,
        return_hint="set what it returns from: debugger try 'x=3'",
    )
    install_command = "debugger setup js-debug --yes, and node"
    pauses_on_attach = False
    delegated_launch = NodeLaunch()
    detach_limit_s = 1.0
    exception_filters = ("uncaught",)
    catch_filters: ClassVar = {
        "throw": "all",
        "catch": "all",
        "raised": "all",
        "uncaught": "uncaught",
    }
    request_abilities = frozenset(
        {
            abilities.ExceptionAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
            abilities.StepTargetAbility,
        }
    )
    own_abilities: ClassVar = {abilities.LoadedSourceAbility: DapLoadedSources}
    # It reads the bytes of a Buffer or a typed array, by a reference and not by an address.
    broken_abilities = frozenset({abilities.MemoryAbility})
    # In a REPL js-debug makes a promise of an await, which nothing fulfils at a stop.
    evaluation_contexts: ClassVar = {
        EvaluationPurpose.PRINT: ("watch",),
        EvaluationPurpose.EVALUATE: ("watch",),
        EvaluationPurpose.RAW: ("repl",),
    }
    ability_alternatives: ClassVar = {
        abilities.MemoryAbility: "debugger print BUFFER shows the bytes of a Buffer "
        "or a typed array",
        abilities.WatchpointAbility: "debugger who-wrote EXPR names the lines that wrote it "
        "up to here; debugger break FILE:LINE --when 'EXPR' stops where it is assigned",
        abilities.JumpAbility: "debugger set NAME VALUE changes what comes next",
    }
    has_outside_frames = True
    reads_exception_types = True
    filters_by_condition = True

    # Overrides that stand in other modules.
    attach_arguments = staticmethod(js_attach.attach_arguments)
    format_type_condition = staticmethod(js_values.type_condition)
    correct_breakpoint = staticmethod(_correct_breakpoint)
    name_functions = staticmethod(js_breakpoints.name_functions)
    convert_scopes = staticmethod(js_values.convert_scopes)
    read_argument_names = staticmethod(js_values.argument_names)
    complete_variables = staticmethod(js_values.complete_variables)
    read_page = staticmethod(js_values.read_page)
    evaluate_expression = staticmethod(js_values.note_evaluation)
    adjust_value = staticmethod(js_values.shown_result)
    assign_value = staticmethod(js_values.refuse_new_name)
    read_returned_value = staticmethod(js_values.returned_value)
    read_exception = staticmethod(js_values.own_exception)
    adjust_exception = staticmethod(js_values.exception_details)
    shorten_error = staticmethod(js_values.error_text)

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
        path = search.env.get("PATH", os.defpath)
        node = shutil.which("node", path=path)
        for server in _server_paths(search):
            if node is not None and server.is_file():
                words = (node, str(server), "0", "127.0.0.1", *search.args)
                return AdapterLocation(words, _server_version(server), listens=_LISTENS)
        own = shutil.which("js-debug-adapter", path=path) if search.path is None else None
        if own is None:
            return None
        return AdapterLocation((own, "0", "127.0.0.1", *search.args), listens=_LISTENS)

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        del files  # the program is run by us, on request (runInTerminal)
        node = shutil.which("node", path=launch.env.get("PATH", os.defpath))
        own, others = split_options(launch.env.get("NODE_OPTIONS") or "", node, launch.env)
        return {
            "type": "pwa-node",
            "request": "launch",
            "name": Path(launch.program or "node").name,
            **_words_to_run(launch),
            "cwd": launch.cwd,
            # js-debug adds its own to these.
            # The rest of the environment comes from `run_in_terminal`, which has the user's.
            "env": {"NODE_OPTIONS": own} if own else {},
            "runtimeExecutable": node or "node",
            "runtimeArgs": others,
            # Else js-debug runs it once more, to ask; from 12.8 on it makes no difference.
            "nodeVersionHint": 20,
            "console": "integratedTerminal",
            # Its script for this may be missing, and the guard is surer.
            "killBehavior": "none",
            "__workspaceFolder": _project_root(launch.program, launch.cwd),
        }

    def read_child_command(self, pid: int) -> tuple[str, ...]:
        """Return the command line of a child process; nothing if it is unknown."""
        words = list(command_line(pid)[1:])
        while words and words[0].startswith("-") and words[0] not in {"-e", "-p"}:
            words.pop(0)
        return tuple(words)

    def parse_output(
        self, body: dap.OutputBody
    ) -> OutputPrinted | LogpointPassed | ConditionError | BreakpointChanged | None:
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        if body.category == "telemetry":
            return None
        failed = _FAILED.match(body.output)
        if failed:
            return ConditionError(int(failed[1]), body.output[failed.end() :].rstrip("\n"))
        if (news := parse_mark(body.output)) is not None:
            return news
        if _OWN_WORDS.match(body.output):
            return OutputPrinted(OutputStream.CONSOLE, body.output)
        streams = {"stdout": OutputStream.STDOUT, "stderr": OutputStream.STDERR}
        return OutputPrinted(
            streams.get(body.category or "console", OutputStream.CONSOLE), body.output
        )

    def site_key(self, one: Breakpoint) -> object:
        """Return the key of a breakpoint for js-debug: a line, or a column after other code.

        A function that the program makes of a text has neither.
        """
        at = one.at or one.spec
        return (at.function, at.line, column_of(one) if _is_after_code(one) else None)

    def format_truth(self, condition: str) -> str:
        """Format a condition as an expression whose value is true or false."""
        return f"!!(\n{condition}\n)"

    def shorten_refusal(self, why: str) -> str | None:
        """Shorten the reason why a breakpoint does not bind; None leaves it to explain_unbound."""
        return None if why.startswith((UNBOUND, "breakpoint.")) else why

    async def explain_unbound(
        self, connection: AdapterConnection, spec: BreakpointSpec
    ) -> BoundBreakpoint:
        """Distinguish a line without code from a file that is not loaded."""
        corrected = await asyncio.to_thread(_correct_breakpoint, connection, spec, explain=True)
        if isinstance(corrected, BoundBreakpoint) or spec.file is None or spec.line is None:
            return (
                corrected
                if isinstance(corrected, BoundBreakpoint)
                else BoundBreakpoint(verified=False)
            )
        name = Path(spec.file).name
        # Before a session's launch is done js-debug answers nothing but breakpoints.
        is_live = connection.breakpoint_sender is None or connection.breakpoint_sender.is_live
        lines = await _code_lines(connection, spec.file) if is_live else []
        if not lines:
            return BoundBreakpoint(verified=False, why=f"the program has not loaded {name} yet")
        return BoundBreakpoint(
            verified=False,
            why=f"no code at {name}:{spec.line}",
            nearest_lines=nearest_lines(spec.line, lines),
        )

    def is_outside(self, frame: dap.DapStackFrame) -> bool:
        """Return whether a frame is Node's own, or a mark in an asynchronous stack."""
        path = (frame.source and frame.source.path) or ""
        return frame.presentation_hint == "label" or bool(_INTERNAL.match(path))
