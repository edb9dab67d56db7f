"""Injects debugpy into a running process, where it begins with our own code.

Run as `python injector.py FOLDER ARGS...` in the place of debugpy's package FOLDER, with the same
arguments. Standard library and debugpy's own modules only; facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# debugpy looks for `attach_pid_injected` beside its own module of this name.
_ATTACHED = Path(__file__).with_name("attached") / "__init__.py"


class SetupWriter:
    """Writes what the injected code is given, with the folder of the debugpy that is meant."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def dumps(self, setup: dict[str, Any]) -> str:
        """Return the setup as JSON."""
        return json.dumps({**setup, "folder": self._folder})


def run_injector() -> None:
    """Run debugpy's command line."""
    folder = sys.argv.pop(1)
    sys.argv[0] = folder
    sys.path[0] = str(Path(folder).parent)
    server: Any = import_module("debugpy.server")
    cli: Any = import_module("debugpy.server.cli")
    server.__file__ = str(_ATTACHED)
    cli.json = SetupWriter(folder)
    cli.main()


if __name__ == "__main__":
    run_injector()
