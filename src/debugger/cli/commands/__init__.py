"""Defines the commands of the command line, grouped by subject.

Their modules import at the top what declares a command, and inside the functions what runs it:
help, the completion and the MCP server only describe commands.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

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
    "questions.test.command",
    "questions.crash.command",
    "questions.hang.command",
    "questions.who_wrote.command",
    "questions.why.command",
    "questions.holds.command",
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


# What runs the commands, and the folders there whose modules other interpreters run.
_RUNNING = ("cli.commands", "cli.translation", "install", "questions", "session", "targets")
_FOREIGN = frozenset({"inside", "entry"})


@functools.cache
def load_all() -> None:
    """Register all commands, and import what parses and runs them.

    For a daemon: what it imported later would be of the version that is installed by then.
    """
    register_all()
    importlib.import_module("debugger.cli.command_words")
    for name in _RUNNING:
        _load_package(f"debugger.{name}")


def _load_package(name: str) -> None:
    package = importlib.import_module(name)
    for found in pkgutil.iter_modules(package.__path__, f"{name}."):
        if found.ispkg and found.name.rpartition(".")[2] not in _FOREIGN:
            _load_package(found.name)
        elif not found.ispkg:
            importlib.import_module(found.name)
