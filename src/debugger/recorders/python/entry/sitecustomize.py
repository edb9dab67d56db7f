"""Starts the recorder in a program's interpreter, and hides the traces of its loading.

Python imports this module at its start, before the program, because its folder is first in
PYTHONPATH. The program then sees the same paths, variables and modules as without the recorder. The
syntax must be accepted by every Python that may be started, however old.
"""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow
_ORDER = "DEBUGGER_RECORDING"


def _hide():  # noqa: ANN202 - older ones cannot read it
    # type: () -> None
    """Remove our folder from the import path, and our variables from the environment.

    Only the dictionary behind os.environ changes, so that child processes inherit both.
    """
    sys.path[:] = [path for path in sys.path if path != _FOLDER]
    sys.path_importer_cache.pop(_FOLDER, None)
    stored = os.environ._data  # type: ignore[attr-defined]  # noqa: SLF001 - see above
    encode = os.environ.encodekey
    stored.pop(encode(_ORDER), None)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    remaining = [path for path in paths if path != _FOLDER]
    if remaining == [""] or not remaining:
        stored.pop(encode("PYTHONPATH"), None)
    else:
        stored[encode("PYTHONPATH")] = encode(os.pathsep.join(remaining))


def _give_way():  # noqa: ANN202
    # type: () -> None
    """Import the `sitecustomize` that Python would have imported without ours."""
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        # The import system wants to find what it is importing.
        if ours is not None:
            sys.modules.setdefault("sitecustomize", ours)


def _begin(order):  # noqa: ANN001, ANN202
    # type: (str) -> None
    import _frozen_importlib_external as loading  # no other module is imported for it

    folder = os.path.join(os.path.dirname(os.path.dirname(_FOLDER)), "python", "inside")  # noqa: PTH118, PTH120
    path = os.path.join(folder, "begin.py")  # noqa: PTH118
    code = loading.SourceFileLoader("debugger_recording", path).get_code("debugger_recording")
    names = {"__name__": "debugger_recording", "__file__": path}  # type: dict[str, object]
    exec(code, names)  # type: ignore[arg-type]  # noqa: S102 - it is ours
    names["begin"](order)  # type: ignore[operator]


def _try(order):  # noqa: ANN001, ANN202
    # type: (str) -> None
    """Record; an error of ours is written beside the order, and does not reach the program."""
    try:
        _begin(order)
    except Exception as error:  # noqa: BLE001 - see above
        with open(order + ".fault", "a") as file:  # noqa: PTH123
            file.write("%s: %s\n" % (type(error).__name__, error))  # noqa: UP031


_order = os.environ.get(_ORDER)
if hasattr(os.environ, "_data") and sys.version_info >= (3, 8):
    _hide()
    if _order:
        _try(_order)
_give_way()
