"""Chooses a debugger for the processes that a compiled program starts, where its own sees none."""

from __future__ import annotations

import asyncio

from msgspec import structs

from debugger.backends import backend_names, select_backend
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError
from debugger.model.debugger_words import ForkFollowing, Runtime
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun
from debugger.symbols.program_file import may_fork, may_start_processes


def has_frida(call: CommandCall) -> bool:
    """Return whether the Frida engine is installed, and no other debugger is the user's default."""
    own = select_backend.OWN[backend_names.FRIDA]
    try:
        select_backend.find_adapter(own, call.env, call.config.adapters)
    except DebuggerError:
        return False
    is_default = call.config.defaults.adapter is None and call.config.defaults.backend is None
    return is_default and not call.env.get("DEBUGGER_BACKEND")


async def follow_started(
    call: CommandCall, requested: QuestionOptions, question: QuestionRun
) -> QuestionOptions | None:
    """Choose a debugger that sees the processes that a compiled program starts.

    The Frida engine follows forks and the programs that are started, gdb forks alone. None where
    the user chose the debugger, for a program that starts no process, and without such a debugger.
    """
    is_chosen = requested.adapter is not None or requested.backend is not None
    target = question.target
    path = target.program if isinstance(target, LaunchTarget) else None
    if is_chosen or path is None or question.traits.runtime is not Runtime.NATIVE:
        return None
    if not await asyncio.to_thread(may_start_processes, path):
        return None
    if question.adapter != backend_names.FRIDA and has_frida(call):
        return structs.replace(requested, backend=backend_names.FRIDA)
    is_followed = question.traits.fork_following is not ForkFollowing.NEVER
    if is_followed or not await asyncio.to_thread(may_fork, path):
        return None
    name = select_backend.find_fork_follower(question.language, call.env, call.config.adapters)
    return structs.replace(requested, adapter=name) if name is not None else None


def follower_note(options: QuestionOptions) -> str:
    """Say in which run a process was seen that the program started."""
    name = options.backend or options.adapter
    return f"the program was run again by {name}, which also sees the processes that it starts"
