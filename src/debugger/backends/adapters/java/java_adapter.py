"""Describes our adapter for Java programs. Facts are of OpenJDK 17.0.15 and 25."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger.backends import abilities
from debugger.backends.adapters.agent_adapter import AgentAdapter
from debugger.backends.base import (
    AttachTarget,
    LaunchTarget,
)
from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_abilities import DapWatchpoints
from debugger.backends.dap.debug_adapter import (
    AdapterConnection,
    AdapterLocation,
    AdapterSearch,
    StreamFiles,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, LogDialect, Runtime
from debugger.model.location import nearest_lines
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    Stopped,
    StopReason,
    Variable,
)
from debugger.paths import data_dir
from debugger.sources import java_command, java_project
from debugger.system import java_build_tool, java_home
from debugger.system.process_info import look_at

_RUN = str(Path(__file__).with_name("run_adapter.py"))
# Seconds: javac compiles the adapter at its first start.
_COMPILE_S = 100.0
_NO_CODE = "no class that is loaded has code at line "
_ONLY_FIELDS = "the JVM watches fields only"  # jdi/Evaluator.java
_NEAR = 50  # lines around a line without code
_HISTORY = "DEBUGGER_JAVA_HISTORY"  # the field whose writes are recorded, for `who-wrote`
_RECORD = "DEBUGGER_JAVA_RECORD"  # what gives values and is recorded, for `why`; one a line
# The option that connects a JVM to the adapter, which alone knows the port (jdi/Connector.java).
_JDWP = "{jdwp}"
_RETURNED = "returned"  # the description of a step's stop (jdi/Target.java)
_ERROR_BEGIN, _ERROR_END = "<error: ", ">"


def _read_logged_error(text: str) -> str | None:
    """Return the message of a logged value that is an error."""
    is_error = text.startswith(_ERROR_BEGIN) and text.endswith(_ERROR_END)
    return text[len(_ERROR_BEGIN) : -len(_ERROR_END)] if is_error else None


_LISTENING = (
    "shows its threads all the same; or start it with java -agentlib:jdwp=transport=dt_socket,"
    "server=y,suspend=n,address=127.0.0.1:5005 …, then: debugger attach --connect 127.0.0.1:5005 "
    "--adapter java"
)
# Hints by a part of the message of a program that does not start.
_LAUNCH_HINTS = {
    "no answer as of a JVM": "debugger attach PID chooses the debugger by what the process is",
    "does not compile": "javac names what to mend in the same words",
    "no JVM of a test": (
        "the build's own output says why; tests in Maven's own JVM (forkCount 0): -DforkCount=1"
    ),
    "agent library jdwp": (
        "the JVM has no module jdk.jdwp.agent: name the java of a JDK, as debugger doctor java "
        "finds it; debugger path -- CMD counts lines all the same"
    ),
    "the JVM ended": "java -version tries the JVM itself",
}


class JavaWatchpoints(DapWatchpoints):
    """Watches fields."""

    slot_count: int | None = None  # the JVM has no limit

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a data breakpoint; of what is no field, say what shows its writes."""
        try:
            return await super().set_watchpoint(breakpoint_, frame)
        except DebuggerError as error:
            if _ONLY_FIELDS not in error.message:
                raise
            hint = "debugger calls FUNCTION -- CMD shows each line of it, with what it changed"
            raise DebuggerError(error.code, error.message, hint=hint) from error


class JavaAdapter(AgentAdapter):
    """Our adapter for Java, on the JDK's debug interface."""

    name = "java"
    languages = ("java",)
    traits = DebuggerTraits(
        own_programs=("java",),
        runtime=Runtime.JAVA,
        changes_breakpoints_live=True,
        access_expression="$access",
        rethrow_expression="$rethrown",
        log=LogDialect(thread="$thread", read_error=_read_logged_error),
    )
    install_command = "apt-get install default-jdk-headless"
    missing_hint = "debugger setup java --yes installs a JDK, 17 or later; JAVA_HOME names yours"
    runs_in_terminal = True
    start_limit_s = _COMPILE_S
    build_limit_s = _COMPILE_S
    keeps_steps = True
    answers_ahead = True
    own_abilities: ClassVar = {abilities.WatchpointAbility: JavaWatchpoints}
    request_abilities = frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    )

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None without a JDK."""
        jdk = java_home.find_jdk(search.env, search.path)
        if jdk is None:
            return None
        cache = f"{data_dir(search.env)}/compiled/java"
        words = (sys.executable, "-I", "-S", _RUN, str(jdk.path), cache, *search.args)
        return AdapterLocation(words, version=jdk.version, program=jdk.java)

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        assert launch.program is not None
        # What the adapter reads is not the program's to see.
        recorded = {
            "history": launch.env.get(_HISTORY),
            "record": launch.env.get(_RECORD, "").splitlines(),
            "env": {_HISTORY: None, _RECORD: None},
        }
        if java_build_tool.is_build_tool(launch.program):
            return {
                "command": java_build_tool.words_with_option(launch.program, launch.args, _JDWP),
                "cwd": launch.cwd,
                "folders": java_project.list_modules(launch.cwd),
                "stopOnEntry": launch.stop_on_entry,
                **recorded,
            }
        command = java_command.parse_program(launch.program, launch.args, launch.cwd)
        java = java_home.choose_java(launch.program, launch.env)
        # What is compiled lies beside the session's files, and goes with them.
        classes = str(Path(files.stdout).parent / "classes")
        source = command.source
        folders = [*command.class_path, launch.cwd]
        if source is not None:
            folders.insert(0, str(Path(source).parent))
        if command.jar is not None:
            folders.insert(0, str(Path(command.jar).parent))
        path = ["-cp", ":".join(command.class_path)] if command.class_path else []
        return {
            "command": command.words(java, classes),
            "cwd": launch.cwd,
            "folders": [str(Path(launch.cwd, one)) for one in folders if "*" not in one],
            "source": source,
            "classes": classes,
            "options": path,
            "stopOnEntry": launch.stop_on_entry,
            **recorded,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        common = {"pause": target.pause, "folders": [target.cwd]}
        if target.connect is not None:
            host, port = target.connect
            return {"host": host, "port": port, **common}
        if target.core is not None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "java cannot open core files",
                hint="debugger attach --core FILE PROGRAM --adapter gdb",
            )
        return {"pid": str(target.pid), **common}

    def read_child_command(self, pid: int) -> tuple[str, ...]:
        """Return what a child JVM runs; nothing if it is unknown."""
        process = look_at(pid)
        return () if process is None else java_command.find_program_words(process.words)

    def shorten_launch_problem(self, text: str) -> str:
        """Shorten the adapter's message about a failed launch."""
        if text.startswith("cannot connect"):
            return f"{text}: the JVM does not listen for a debugger"
        return text

    def find_launch_hint(self, text: str) -> str | None:
        """Return a hint for a program that does not start; None if the adapter may be at fault."""
        if "cannot connect" in text:
            pid = re.search(r"process (\d+)", text)
            return f"debugger hang --pid {pid[1] if pid else 'PID'} {_LISTENING}"
        return next((hint for part, hint in _LAUNCH_HINTS.items() if part in text), None)

    def shorten_refusal(self, why: str) -> str | None:
        """Return why a breakpoint does not bind; None where `explain_unbound` knows near lines."""
        return None if why.startswith(_NO_CODE) else why

    async def explain_unbound(
        self, connection: AdapterConnection, spec: BreakpointSpec
    ) -> BoundBreakpoint:
        """Return why there is no breakpoint at a line, with the nearest that have code."""
        if spec.file is None or spec.line is None:
            return BoundBreakpoint(verified=False, why="no class that is loaded has it")
        arguments = {
            "source": {"path": spec.file},
            "line": max(1, spec.line - _NEAR),
            "endLine": spec.line + _NEAR,
        }
        body = await connection.send_request("breakpointLocations", arguments, dap.LocationsBody)
        lines = [one.line for one in body.breakpoints]
        return BoundBreakpoint(
            verified=False,
            why=f"{_NO_CODE}{spec.line}",
            nearest_lines=nearest_lines(spec.line, lines),
        )

    async def read_returned_value(
        self, connection: AdapterConnection, stop: Stopped, frame: Frame
    ) -> Variable | None:
        """Return what the function returned that was stepped out of; None if that is unknown."""
        if stop.reason is not StopReason.STEP or stop.description != _RETURNED:
            return None
        try:
            value = await connection.evaluate("$returned", frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            return None
        return msgspec.structs.replace(value, name="(return)", expression=None)
