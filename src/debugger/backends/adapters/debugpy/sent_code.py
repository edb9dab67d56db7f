"""Keeps the file names of functions that a program sends to other processes by cloudpickle.

cloudpickle 3.1 and later sends the code of `__main__` and of notebooks as of a file
`<dynamic-code>`: in the workers of Dask and joblib no breakpoint of that file would be met, and no
line be shown. Runs in the debuggee; standard library only.
"""

from __future__ import annotations

import os
import sys
import types
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

_DYNAMIC = "<dynamic-code>"
# Dask uses the package itself, joblib and Ray have copies of it.
_MODULE = "cloudpickle.cloudpickle"


class PicklerFinder:
    """Finds cloudpickle as Python does, and changes it once it has been loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """Return the spec of cloudpickle's module; None for all others."""
        if name != _MODULE and not name.endswith(f".{_MODULE}"):
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: Any = (
                find(name, path, target) if find is not None and finder is not self else None
            )
            if spec is not None:
                _change_when_loaded(spec)
                return spec  # type: ignore[no-any-return]
        return None


def _change_when_loaded(spec: Any) -> None:
    load = getattr(spec.loader, "exec_module", None)

    def load_changed(module: Any) -> None:
        load(module)  # type: ignore[misc]
        change_pickler(module)

    # A loader of compiled code takes no attributes: then the module stays as it is.
    if load is not None:
        with suppress(AttributeError, TypeError):
            spec.loader.exec_module = load_changed


def change_pickler(module: Any) -> None:
    """Let cloudpickle send the real file name of code."""
    reduce = getattr(module, "_code_reduce", None)
    table = getattr(getattr(module, "CloudPickler", None), "_dispatch_table", None)
    # Of another version: it is left as it is.
    if reduce is None or not isinstance(table, dict) or types.CodeType not in table:
        return

    def reduce_with_file(code: types.CodeType) -> Any:
        made, arguments, *rest = reduce(code)
        name = os.path.abspath(code.co_filename)  # noqa: PTH100 - pathlib is slow to import
        file = name if os.path.exists(name) else code.co_filename  # noqa: PTH110
        sent = tuple(file if one == _DYNAMIC else one for one in arguments)
        return (made, sent, *rest)

    table[types.CodeType] = reduce_with_file


def keep_sent_files() -> None:
    """Change cloudpickle as soon as the program imports it."""
    if not any(type(one).__name__ == PicklerFinder.__name__ for one in sys.meta_path):
        sys.meta_path.insert(0, PicklerFinder())
