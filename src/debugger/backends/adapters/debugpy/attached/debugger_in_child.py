"""Changes pydevd in a child process, which pydevd itself begins to debug.

pydevd imports this module by its name in the place of debugpy's own module of that purpose, which
this one imports. Standard library and debugpy's own modules only; facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import sys
from importlib import import_module, util
from pathlib import Path

_SERVER = "_debugger_server"


def _begin_debugging() -> None:
    # A program that a program starts begins with pydevd as its __main__; pydevd itself gives that
    # module its name before it runs the program.
    sys.modules.setdefault("pydevd", sys.modules["__main__"])
    # The folder of debugpy itself: debugpy/_vendored/pydevd/_pydevd_bundle/__init__.py.
    folder = Path(str(sys.modules["_pydevd_bundle"].__file__)).parents[3]
    sys.path.insert(0, str(folder.parent))
    try:
        import_module("debugpy._vendored.force_pydevd")
    finally:
        sys.path.remove(str(folder.parent))
    # A fork has its parent's modules, changed as they are.
    if _SERVER in sys.modules:
        return
    spec = util.spec_from_file_location(_SERVER, Path(__file__).parent.with_name("server.py"))
    if spec is None or spec.loader is None:
        return
    module = sys.modules[_SERVER] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.end_at_once()
    module.improve_pydevd()
    module.follow_sent_code()


_begin_debugging()
