"""Defines the commands of the command line, grouped by subject."""

from __future__ import annotations

import importlib

# In the order of the help. Those of a question lie in its folder.
_MODULES = (
    "cli.commands.session_commands",
    "cli.commands.member_command",
    "cli.commands.breakpoint_commands",
    "cli.commands.running_commands",
    "questions.back.command",
    "cli.commands.inspection_commands",
    "cli.commands.live_commands",
    "cli.commands.output_commands",
    "questions.crash.command",
    "questions.hang.command",
    "questions.who_wrote.command",
    "questions.why.command",
    "questions.holds.command",
    "questions.test.command",
    "questions.try_change.command",
    "questions.probe.command",
    "questions.path.command",
    "questions.calls.command",
    "questions.diff.command",
    "questions.recordings.command",
    "cli.commands.system_commands",
)


def register_all() -> None:
    """Register all commands."""
    for name in _MODULES:
        importlib.import_module(f"debugger.{name}")
