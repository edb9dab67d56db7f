"""Resolves a `start` command to a program, an interpreter and an adapter."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_files
from debugger.model.text_filters import clip_text
from debugger.sources import project_files
from debugger.symbols.program_file import ProgramFile, inspect_program
from debugger.targets import launchers
from debugger.targets.launch_json.launch_file import FILE

_PYTHON_S = 10.0  # seconds for an interpreter to answer
_INTERPRETER_S = 5.0
_PYTHON = re.compile(r"python\d*(\.\d+)?\Z")
_SHIM = re.compile(r'^exec "(?P<manager>/[^"\n]+/\w+env)" exec "\$program" ', re.MULTILINE)
_SHIM_MAX = 4096  # characters of a shim
_LINE_MAX = 4096  # bytes of a command's first line
_COMPLAINT_MAX = 120  # characters of what an interpreter that does not start says
# These choose what they need themselves.
_WITHOUT_ADAPTER = {"calls", "diff", "path", "test"}
_SCRIPTS = {
    project_files.SUFFIX,
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".mts",
    ".cts",
    ".rb",
    ".php",
}


class LaunchRequest(Struct, frozen=True):
    """The arguments of a `start` command, in the caller's directory and environment."""

    cwd: str
    env: Mapping[str, str]
    program: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    adapter: str | None = None
    backend: select_backend.SelectedBackend = select_backend.SelectedBackend()
    python: str | None = None
    stdin: str | None = None
    stop_on_entry: bool = False
    changed_env: tuple[str, ...] = ()
    changed_cwd: str | None = None
    adapters: Mapping[str, select_backend.ConfiguredAdapter] = {}
    verb: str = "start"  # the command that asks, as its hints name it


def prepare_launch(request: LaunchRequest) -> tuple[LaunchTarget, DebugAdapter]:
    """Resolve a start request to a program and its adapter.

    Raises:
        DebuggerError: USAGE, NOT_FOUND or LAUNCH_FAILED, each with a remedy.
    """
    _check_words(request)
    cwd = _working_directory(request)
    env = {**request.env, **parse_environment(request.changed_env, request.verb)}
    stdin = _stdin_file(request)
    args = request.args
    if request.module is not None:
        # `-m MODULE ARG…`: what looks like the program is the first argument.
        args = (request.program, *args) if request.program is not None else args
        what = f"the module {request.module}"
        select_backend.resolve_backend_adapter(request.backend, request.adapter, "python", what)
        adapter = select_backend.find_named_adapter(
            request.adapter or select_backend.PYTHON_ADAPTER,
            select_backend.list_adapters(request.adapters),
        )
        if "python" not in adapter.languages:
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"{adapter.name} cannot run the Python module {request.module}",
                hint=f"debugger start -m {request.module}",
            )
        program = None
    elif request.program is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "which program?",
            hint="debugger start --list-configs shows those of launch.json"
            if os.path.isfile(os.path.join(request.cwd, FILE))
            else _program_hint(request.cwd, request.cwd),
        )
    else:
        program = _find_program(request.program, request)
        adapter = _choose_adapter(program, request)
        if "go" in adapter.languages and request.changed_cwd is None:
            cwd = _go_directory(program, cwd)
    launch = LaunchTarget(
        program=program,
        module=request.module,
        args=args,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stop_on_entry=request.stop_on_entry,
        python=_choose_python(request, program, env) if "python" in adapter.languages else None,
    )
    return launch, adapter


def look_in_directory(request: LaunchRequest) -> LaunchRequest:
    """Return a request whose program is looked for in the directory of --cwd, if it is there."""
    if request.changed_cwd is None:
        return request
    folder = os.path.normpath(os.path.join(request.cwd, request.changed_cwd))
    stdin = os.path.join(request.cwd, request.stdin) if request.stdin is not None else None
    moved = structs.replace(request, cwd=folder, changed_cwd=folder, stdin=stdin)
    try:
        prepare_launch(moved)
    except DebuggerError:  # it is in the caller's directory, or in neither
        return request
    return moved


def prepare_launcher(request: LaunchRequest) -> LaunchTarget:
    """Resolve the launcher of a job, which may be of any kind and gets no debugger.

    Raises:
        DebuggerError: USAGE, NOT_FOUND or LAUNCH_FAILED, each with a remedy.
    """
    _check_words(request)
    return LaunchTarget(
        program=_find_program(request.program or "", request),
        args=request.args,
        cwd=_working_directory(request),
        env={**request.env, **parse_environment(request.changed_env, request.verb)},
        stdin=_stdin_file(request),
    )


def find_other_host(words: Sequence[str], cwd: str) -> str | None:
    """Return the first host that a launcher's command names and that is not this machine."""
    own = {"localhost", "127.0.0.1", "::1", socket.gethostname(), platform.node().split(".")[0]}

    def read_text(name: str) -> str:
        try:
            return (Path(cwd) / name).read_text("utf-8", errors="replace")
        except OSError:
            return ""  # as the launcher reports

    def is_program(word: str) -> bool:
        return find_on_path(word, os.environ, cwd) is not None

    try:
        (at, *_) = launchers.find_rank_programs(words[0], words[1:], is_program)
    except DebuggerError:
        return None
    return launchers.find_other_host(words[1 : 1 + at], own, read_text)


def _go_directory(program: str, cwd: str) -> str:
    """Return the working directory of a Go target: tests run in their package's folder."""
    target = project_files.find_go_target(program)
    return target.folder if target.mode == "test" else cwd


def _check_words(request: LaunchRequest) -> None:
    words = (request.program, request.module, request.python, request.stdin, request.changed_cwd)
    if any("\0" in word for word in (*words, *request.args, *request.changed_env) if word):
        raise DebuggerError(
            ErrorCode.USAGE, "a NUL in an argument", hint=f"debugger {request.verb} --help"
        )


def _working_directory(request: LaunchRequest) -> str:
    cwd = os.path.normpath(os.path.join(request.cwd, request.changed_cwd or ""))
    if not os.path.isdir(cwd):
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no such directory: {cwd}",
            hint=f"debugger {request.verb} --cwd DIRECTORY …",
        )
    return cwd


def parse_environment(pairs: Sequence[str], verb: str) -> dict[str, str]:
    """Parse environment changes, KEY=VALUE each.

    Raises:
        DebuggerError: USAGE.
    """
    changed: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--env expects KEY=VALUE, not {pair!r}",
                hint=f"debugger {verb} --help",
            )
        changed[key] = value
    return changed


def _stdin_file(request: LaunchRequest) -> str | None:
    if request.stdin is None:
        return None
    file = os.path.normpath(os.path.join(request.cwd, request.stdin))
    if os.path.isdir(file) or not os.access(file, os.R_OK):
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot read {file}",
            hint=f"debugger {request.verb} --stdin FILE …"
            + ("; --vs-stdin FILE for the other run" if request.verb == "diff" else ""),
        )
    return file


def _program_hint(folder: str, cwd: str) -> str:
    """Return the command that starts the program of a project's folder."""
    shown = os.path.relpath(folder, cwd)
    if os.path.isfile(os.path.join(folder, "Cargo.toml")):
        built = os.path.join(folder, "target", "debug")
        names = [
            os.path.join(built, one) for one in (os.listdir(built) if os.path.isdir(built) else ())
        ]
        programs = [one for one in names if os.path.isfile(one) and os.access(one, os.X_OK)]
        newest = max(programs, key=os.path.getmtime, default=None)
        if newest is None:
            return "cargo build; then debugger start target/debug/NAME"
        return f"debugger start {os.path.relpath(newest, cwd)}, which cargo build writes"
    if project_files.is_package(folder):
        return f"debugger start {shown}"
    commands = sorted(Path(folder).glob("cmd/*/main.go"))
    if commands:
        return f"debugger start ./{os.path.relpath(commands[0].parent, cwd)}"
    if os.path.isfile(os.path.join(folder, "__main__.py")):
        return f"debugger start -m {os.path.basename(folder)}"
    return "debugger start PROGRAM [-- ARGS…]; debugger start -m MODULE runs a Python package"


def _find_program(name: str, request: LaunchRequest) -> str:
    """Find a program as a shell does, but a bare name first in the current directory."""
    path = os.path.normpath(os.path.join(request.cwd, os.path.expanduser(name)))
    if os.path.isdir(path):
        if project_files.is_package(path):
            return path
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{path} is a directory, and no Go package",
            hint=_program_hint(path, request.cwd),
        )
    if not os.path.exists(path):
        on_path = find_on_path(name, request.env, request.cwd) if "/" not in name else None
        if on_path is None:
            _refuse_unsplit(name, request)
            neighbours = _neighbour_files(path)
            near = near_files(os.path.basename(path), neighbours)
            suggestion = f"; there is {near[0]}" if near else ""
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"no such program: {path}{suggestion}",
                hint=f"debugger start {_similar_file(name, near[0])}"
                if near
                else "debugger start PROGRAM",
            )
        # The folder on the PATH may be relative.
        path = os.path.abspath(on_path)
    if not os.access(path, os.R_OK):
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED, f"cannot read {path}", hint=f"chmod u+r {path}"
        )
    return _shim_interpreter(path, request)


def _refuse_unsplit(name: str, request: LaunchRequest) -> None:
    """Refuse a program with its arguments in one word, `"./app 1 2"`."""
    first, *args = name.split() or [""]
    is_there = os.path.exists(os.path.join(request.cwd, first)) or find_on_path(
        first, request.env, request.cwd
    )
    if not args or not is_there:
        return
    raise DebuggerError(
        ErrorCode.LAUNCH_FAILED,
        f"{name!r} is one word: no shell splits it",
        hint=f"debugger start {first} -- {' '.join(args)}",
    )


def _shim_interpreter(path: str, request: LaunchRequest) -> str:
    """Return the Python behind a shim such as pyenv's; else the path itself."""
    if not _PYTHON.match(os.path.basename(path)) or inspect_program(path).is_native:
        return find_behind_shim(path, request.cwd, request.env)
    # Whatever else the shim does, this is the interpreter that it chooses here.
    words = [path, "-c", "import sys; print(sys.executable)"]
    return _ask_for_path(words, request.cwd, request.env) or path


def find_behind_shim(path: str, cwd: str, env: Mapping[str, str]) -> str:
    """Return the program behind a shim of pyenv, rbenv and their like; else the path itself.

    Such a shim is a script for a shell, which runs the program of the version that is chosen in
    `cwd` and `env`.
    """
    if os.path.basename(os.path.dirname(path)) != "shims":
        return path
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = _SHIM.search(file.read(_SHIM_MAX))
    except OSError:
        return path
    if found is None:
        return path
    return _ask_for_path([found["manager"], "which", os.path.basename(path)], cwd, env) or path


def _ask_for_path(words: Sequence[str], cwd: str, env: Mapping[str, str]) -> str:
    """Return the path that a command prints; "" if it prints none of a file."""
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_INTERPRETER_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = done.stdout.decode(errors="surrogateescape").strip()
    return found if os.path.isabs(found) and os.path.isfile(found) else ""


def _similar_file(name: str, near: str) -> str:
    """Return a similar file name in the folder that the user named."""
    folder = os.path.dirname(name)
    return os.path.join(folder, near)


def _neighbour_files(path: str) -> list[str]:
    try:
        with os.scandir(os.path.dirname(path)) as entries:
            return [one.name for one in entries if not one.is_dir()]
    except (OSError, ValueError):
        return []


def find_on_path(name: str, env: Mapping[str, str], cwd: str) -> str | None:
    """Find a program as the caller's shell does: on its PATH, or by a path from its directory."""
    if "/" in name:
        return shutil.which(os.path.join(cwd, name))
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    # The daemon's own directory is another one.
    path = os.pathsep.join(os.path.join(cwd, folder) for folder in folders)
    return shutil.which(name, path=path)


def _choose_adapter(path: str, request: LaunchRequest) -> DebugAdapter:
    program = inspect_program(path)
    own = select_backend.resolve_backend_adapter(
        request.backend, request.adapter, program.language, path
    )
    if own is not None:
        chosen = own
    elif request.adapter is not None:
        chosen = select_backend.find_named_adapter(
            request.adapter, select_backend.list_adapters(request.adapters)
        )
        _check_fit(path, program, chosen, request)
    else:
        found = select_backend.choose_program_adapter(
            path, program.language, request.env, request.adapters, program.type_language
        )
        if found is None:
            raise _unknown_program(path, request)
        chosen = found
    if program.is_native and not os.access(path, os.X_OK):
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED, f"{path} is not executable", hint=f"chmod u+x {path}"
        )
    return chosen


def _check_fit(
    path: str, program: ProgramFile, chosen: DebugAdapter, request: LaunchRequest
) -> None:
    every = select_backend.list_adapters(request.adapters).values()
    known = {language for one in every for language in one.languages}
    is_match = bool(chosen.extensions) and path.endswith(chosen.extensions)
    fits = is_match or program.language in chosen.languages
    if program.language in known and not fits:
        better = select_backend.choose_program_adapter(
            path, program.language, request.env, request.adapters
        )
        assert better is not None
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{chosen.name} cannot debug {path}: it is a {program.language} program",
            hint=_with_adapter(request, path, better.name),
        )


def _with_adapter(request: LaunchRequest, path: str, name: str) -> str:
    """Return the command again, with an adapter option."""
    if request.verb == "start":
        return f"debugger start {path} --adapter {name}"
    if request.verb in _WITHOUT_ADAPTER:
        return f"debugger {request.verb} -- PROGRAM ARGUMENTS, the program itself"
    return f"debugger {request.verb} --adapter {name} -- {path}"


# How a source file of these languages becomes a program that can be debugged.
_COMPILERS = {
    ".c": "gcc -g -O0", ".cc": "g++ -g -O0", ".cpp": "g++ -g -O0", ".cxx": "g++ -g -O0",
    ".rs": "rustc -g",
}  # fmt: skip


def _unknown_program(path: str, request: LaunchRequest) -> DebuggerError:
    root, suffix = os.path.splitext(path)
    if suffix in _COMPILERS:
        start = "start" if request.verb == "start" else f"{request.verb} --"
        return DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{path} is a source file, and is compiled to a program first",
            hint=f"debugger {start} {root} (made by {_COMPILERS[suffix]} {path} -o {root})",
        )
    if os.access(path, os.X_OK):
        problem = f"{path} is neither a compiled program nor a script that is known here"
    else:
        problem = f"{path} is not executable, and no script that is known here"
    names = ", ".join(select_backend.ADAPTERS)
    way = _with_adapter(request, path, "NAME")
    return DebuggerError(
        ErrorCode.LAUNCH_FAILED,
        problem,
        hint=f"{way} ({names})" if "--adapter" in way else way,
    )


def _choose_python(request: LaunchRequest, program: str | None, env: Mapping[str, str]) -> str:
    """Choose the interpreter: --python, the command's, the virtual environment's, the PATH's, ours.

    A command that an installation has made, such as torchrun, names its own. A virtual environment
    is the active one, else `.venv` or `venv` in the caller's directory.
    """
    if request.python is not None:
        has_folder = "/" in request.python
        named = (
            os.path.join(request.cwd, os.path.expanduser(request.python)) if has_folder else None
        )
        found = named or find_on_path(request.python, env, request.cwd)
        if found is None or not os.access(found, os.X_OK) or os.path.isdir(found):
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"no such Python: {named or request.python}",
                hint="debugger start --python PATH …; without it, the one on your PATH is taken",
            )
        return os.path.abspath(found)
    candidates: Sequence[str | None] = (
        _read_own_python(program),
        os.path.join(env["VIRTUAL_ENV"], "bin", "python") if env.get("VIRTUAL_ENV") else None,
        *(_find_python_neighbour(request.cwd, name) for name in (".venv", "venv")),
        find_on_path("python3", env, request.cwd),
        find_on_path("python", env, request.cwd),
    )
    for candidate in candidates:
        if candidate is not None and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    return sys.executable


def _read_own_python(program: str | None) -> str | None:
    """Return the interpreter of a command whose file names one; None for a source file."""
    if program is None or program.endswith((".py", ".pyw")):
        return None
    try:
        with open(program, "rb") as file:
            line = file.readline(_LINE_MAX).decode("utf-8", "replace")
    except OSError:
        return None
    python = next(iter(line[2:].split()), "") if line.startswith("#!") else ""
    is_own = os.path.isabs(python) and _PYTHON.match(os.path.basename(python))
    return python if is_own else None


def _find_python_neighbour(cwd: str, name: str) -> str | None:
    folder = os.path.join(cwd, name)
    is_environment = os.path.isfile(os.path.join(folder, "pyvenv.cfg"))
    return os.path.join(folder, "bin", "python") if is_environment else None


async def check_python(launch: LaunchTarget) -> None:
    """Check that the named interpreter is one, before an adapter waits for it.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    assert launch.python is not None
    words = [launch.python, "-I", "-S", "-c", "print('python')"]
    output = complaint = b""
    try:
        process = await asyncio.create_subprocess_exec(
            *words, env=dict(launch.env), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
    except OSError:
        process = None
    if process is not None:
        try:
            async with asyncio.timeout(_PYTHON_S):
                output, complaint = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
    if output.strip() != b"python":
        # A shim of pyenv says which version is missing.
        text = complaint.decode("utf-8", "replace").strip()
        first = clip_text(text.partition("\n")[0], _COMPLAINT_MAX)
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{launch.python} is not a Python" + (f": {first}" if first else ""),
            hint="debugger start --python PATH …; without it, the one on your PATH is taken",
        )


def default_file(launch: LaunchTarget) -> str | None:
    """Return the file of a bare line number before anything has stopped."""
    if launch.program is not None and Path(launch.program).suffix in _SCRIPTS:
        return launch.program
    return None
