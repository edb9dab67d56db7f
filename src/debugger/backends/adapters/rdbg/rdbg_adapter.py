"""Describes the debugger of Ruby programs. Facts are of the gem debug 1.4 with Ruby 3.1.

The gem's own debug server takes no breakpoint away, knows no hit counts, no log messages and no
function breakpoints, and calls every line verified. So the program loads our agent (`agent/`) in
place of it, which takes from the gem only its C extension: it reads the frames' variables.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger.backends import abilities
from debugger.backends.adapters.agent_adapter import AgentAdapter
from debugger.backends.adapters.rdbg import ruby_attach
from debugger.backends.base import (
    AttachTarget,
    LaunchTarget,
)
from debugger.backends.dap.dap_abilities import DapLoadedSources, DapWatchpoints
from debugger.backends.dap.debug_adapter import (
    AdapterLocation,
    AdapterSearch,
    AdapterServer,
    StreamFiles,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.debugger_words import DebuggerTraits, LogDialect, Runtime
from debugger.model.program import Frame

AGENT = Path(__file__).with_name("agent") / "start.rb"
_RUBY_S = 10.0  # seconds for Ruby to say whether it has the gem
_GEM_VARIABLES = ("GEM_HOME", "GEM_PATH", "RUBYOPT", "RUBYLIB")
_GEM = re.compile(r"rdbg[0-9.]*\Z")


def _program_words(found: AdapterLocation, launch: LaunchTarget | None, port: int) -> list[str]:
    """Return the command of a program that loads our agent first."""
    del port
    assert launch is not None
    assert launch.program is not None
    named = launch.env.get("RUBY")
    ruby = (shutil.which(named, path=launch.env.get("PATH")) if named else None) or found.argv[0]
    return [ruby, "-r", str(AGENT), *found.argv[1:], launch.program, *launch.args]


def _has_gem(ruby: str, env: Mapping[str, str]) -> bool:
    """Return whether a Ruby has the gem debug: its command is beside it, or Ruby says so.

    Only Ruby knows where the caller's variables move its gems, or leave them out.
    """
    folder = Path(ruby).resolve().parent
    if not any(env.get(one) for one in _GEM_VARIABLES) and any(
        _GEM.match(one.name) for one in (*folder.glob("rdbg*"), *Path(ruby).parent.glob("rdbg*"))
    ):
        return True
    asks = "exit Gem::Specification.find_all_by_name('debug').any?"
    try:
        done = subprocess.run(
            [ruby, "-e", asks], capture_output=True, stdin=subprocess.DEVNULL, timeout=_RUBY_S,
            env=env, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


class RubyWatchpoints(DapWatchpoints):
    """Watches expressions, each in the frame that it was set in."""

    slot_count = None

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint; its value can be read in any frame.

        Raises:
            DebuggerError: NOT_SUPPORTED for reads, EVALUATION_FAILED.
        """
        if breakpoint_.spec.access is not WatchAccess.WRITE:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "rdbg cannot watch for reads: it compares the value after each line",
                hint=f"debugger watch {shlex.quote(breakpoint_.spec.watch or '')}",
            )
        bound = await super().set_watchpoint(breakpoint_, frame)
        return msgspec.structs.replace(
            bound, again=f"DebuggerAgent.watches.read_value({bound.backend_id})"
        )


class RdbgAdapter(AgentAdapter):
    """Our agent inside the program, with the frames of the gem debug."""

    name = "rdbg"
    languages = ("ruby",)
    traits = DebuggerTraits(
        own_programs=("ruby",),
        runtime=Runtime.RUBY,
        changes_breakpoints_live=True,
        read_function="DebuggerAgent::Reads.value",
        return_hint="set what it returns from: debugger try 'x=3'",
        log=LogDialect(thread="Thread.current.object_id"),
    )
    install_command = "gem install debug"
    missing_hint = (
        "debugger setup rdbg --yes installs Ruby; for a Ruby of your own: gem install debug"
    )
    server = AdapterServer(
        words=_program_words,
        is_program=True,
        socket_variable="DEBUGGER_RUBY_SOCKET",
        suffix=".rb",
    )
    assigns_by_expression = True
    answers_ahead = True
    options_with_value = "CEIr"
    own_abilities: ClassVar = {
        abilities.LoadedSourceAbility: DapLoadedSources,
        abilities.WatchpointAbility: RubyWatchpoints,
    }
    request_abilities = frozenset(
        {
            abilities.ExceptionAbility,
            abilities.ModuleAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
        }
    )

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the Ruby that runs programs; None without Ruby, or without the gem debug."""
        named = search.path or search.env.get("RUBY") or "ruby"
        path = shutil.which(named, path=search.env.get("PATH"))
        if path is None:
            return None
        ruby = str(Path(path).absolute())
        return AdapterLocation((ruby, *search.args)) if _has_gem(ruby, search.env) else None

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        del files  # the program has them already
        return {"request": "launch", "stopOnEntry": launch.stop_on_entry}

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        if target.core is not None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "rdbg reads no core files",
                hint="debugger attach PID",
            )
        return {"request": "attach", "pause": target.pause}

    async def enter_process(self, target: AttachTarget, socket: str) -> Callable[[], None] | None:
        """Make a running Ruby load our agent, which connects to a socket of ours."""
        code = ruby_attach.entering_code(AGENT, socket)
        if target.connect is not None:
            return await ruby_attach.enter_by_server(target.connect, code)
        assert target.pid is not None
        await ruby_attach.enter_by_gdb(target.pid, code, target.env)
        return None

    def find_launch_hint(self, problem: str) -> str | None:
        """Return a hint for a program whose Ruby cannot load our agent."""
        if "without its gems" in problem:
            return "leave --disable-gems out of the command, and of RUBYOPT"
        return self.missing_hint if "the gem debug" in problem else None

    def format_truth(self, condition: str) -> str:
        """Format a condition as an expression whose value is true or false."""
        return f"!!({condition})"
