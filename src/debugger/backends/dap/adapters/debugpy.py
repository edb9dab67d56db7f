"""debugpy: Python programs. Facts are of debugpy 1.8.22."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.base import Attach, ConditionFailed, Launch, Logged, Printed
from debugger.backends.dap import messages as dap
from debugger.backends.dap.adapters import python_source
from debugger.backends.dap.profile import Files, Found, Inside, Profile, Search
from debugger.core.breakpoints import Bound, Kind, Spec
from debugger.core.clip import unclipped
from debugger.core.events import Stream
from debugger.core.locate import near_names, nearest_lines
from debugger.core.model import ExceptionDetails, Exited, Frame, Purpose, Variable
from debugger.errors import DebuggerError
from debugger.targets.process import command_line

_QUICKACK = str(Path(__file__).with_name("debugpy_quickack.py"))
_ENVIRONMENT = {
    # An expression that loops is interrupted after so many seconds.
    "PYDEVD_INTERRUPT_THREAD_TIMEOUT": "10",
    # Child processes would write a warning of debugpy's among the program's own output.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # Into a FIFO Python writes blocks: what was printed before a stop would not be seen at it.
    "PYTHONUNBUFFERED": "1",
}
# The launcher passes a death by signal N on as 256 - N. Those that sys.exit(-1) and its like
# give too (255, 254…) are taken for exit codes.
_SIGNALS = {241: "SIGTERM", 245: "SIGSEGV", 247: "SIGKILL", 248: "SIGFPE", 249: "SIGBUS"}
_SIGNALS |= {250: "SIGABRT", 252: "SIGILL"}
_PYTHON = {".py", ".pyw"}
_CUT = {"list", "tuple", "dict", "set", "frozenset", "str", "bytes", "bytearray", "deque"}
_TEXT_MAX = 1000
_COMMAND_MAX = 60
_LENGTH = "len()"  # pydevd's own child of every container
_SEQUENCES = {"list", "tuple", "deque"}
_PLUMBING = re.compile(r"/(debugpy|pydevd|_pydevd_bundle|_vendored)/|/runpy\.py\Z|\A<frozen runpy>")
_FAILED_CONDITION = re.compile(
    r"pydevd: Error while evaluating expression in conditional breakpoint: (.*)"
)
_CHAINED = re.compile(r"\[Chained Exc: ")


def _find(search: Search) -> Found | None:
    try:
        version = importlib.metadata.version("debugpy")
    except importlib.metadata.PackageNotFoundError:
        return None
    python = search.path or sys.executable
    return Found((python, "-I", _QUICKACK, *search.args), version)


def _launch(launch: Launch, files: Files) -> dict[str, Any]:
    del files  # the program is run by us, on request (runInTerminal)
    target = {"module": launch.module} if launch.module else {"program": launch.program}
    return target | {
        "type": "python",
        "request": "launch",
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": dict(_ENVIRONMENT),
        "python": [launch.python or sys.executable],
        "console": "integratedTerminal",
        "justMyCode": False,
        "stopOnEntry": launch.stop_on_entry,
        # An end by sys.exit(3) is an end, not an exception that nobody caught.
        "breakOnSystemExit": [],
        "subProcess": True,
        "showReturnValue": True,
        "redirectOutput": False,
        "variablePresentation": {
            "special": "hide",
            "function": "hide",
            "class": "hide",
            "protected": "inline",
        },
    }


def _attach(target: Attach) -> dict[str, Any]:
    return {"type": "python", "request": "attach", "processId": target.pid, "justMyCode": False}


def _words(pid: int) -> tuple[str, ...]:
    """Find what a child process runs behind debugpy's own arguments, which end with --file."""
    words = command_line(pid)
    if "--file" in words:
        return words[words.index("--file") + 1 :]
    own = words[1:]
    while own and own[0].startswith("-") and own[0] not in {"-c", "-m"}:
        # An option of the interpreter; two of them have a value.
        own = own[2:] if own[0] in {"-X", "-W"} else own[1:]
    return (" ".join(own[:2])[:_COMMAND_MAX], *own[2:]) if own[:1] in {("-c",), ("-m",)} else own


def _printed(body: dap.OutputBody) -> Printed | Logged | ConditionFailed | None:
    # The program writes to files of ours; what comes as stdout is a logpoint's, or its complaint.
    if body.category == "stdout":
        return Logged(None, body.output.rstrip("\n"))
    if body.category == "telemetry":
        return None
    failed = _FAILED_CONDITION.match(body.output)
    if failed:
        problem = body.output.strip().splitlines()[-1]
        return ConditionFailed(None, f"{failed[1].strip()}: {problem}")
    return Printed(Stream.CONSOLE, body.output)


def _exited(code: int | None, last_signal: str | None) -> Exited:
    del last_signal
    if code is not None and code < 0:
        code += 256
    name = _SIGNALS.get(code) if code is not None else None
    return Exited(signal=name) if name else Exited(code=code)


def _frames(frames: Sequence[dap.StackFrame]) -> list[dap.StackFrame]:
    """Leave out the frames of chained exceptions and, at the bottom, those that ran the program."""
    own = [frame for frame in frames if not _CHAINED.match(frame.name or "")]
    while len(own) > 1 and _PLUMBING.search((own[-1].source and own[-1].source.path) or ""):
        own.pop()
    return own


def _problem(text: str) -> str:
    """Leave out pydevd's own traceback: the last line says what is wrong."""
    if text == "No more messages":
        return "the program ended while the expression ran"
    last = text.strip().splitlines()[-1] if text.startswith("Traceback ") else text.strip()
    if last.rstrip(":") == "KeyboardInterrupt":
        seconds = _ENVIRONMENT["PYDEVD_INTERRUPT_THREAD_TIMEOUT"]
        return f"it did not finish within {seconds} s and was interrupted"
    return last


def _details(details: ExceptionDetails) -> ExceptionDetails:
    """Find the causes in the traceback: each block of a chain ends with `Type: message`."""
    blocks = re.split(
        r"\n\n(?:The above exception|During handling)[^\n]*\n\n", details.trace.strip()
    )
    causes = [block.strip().splitlines()[-1].strip() for block in blocks[:-1] if block.strip()]
    message = re.sub(r"\s*\(note: [^)]*\)\Z", "", details.message)
    kind = re.sub(r"\s*\(note: .*\)\Z", "", details.type, flags=re.DOTALL)
    return msgspec.structs.replace(details, type=kind, message=message, causes=tuple(causes[::-1]))


def _correct(inside: Inside, spec: Spec) -> Spec | Bound:
    """Move a breakpoint to where Python has code: debugpy calls every line and name verified."""
    if spec.kind is Kind.FUNCTION:
        return _correct_function(inside, spec)
    if spec.file is None or spec.line is None:
        return spec
    path = Path(spec.file)
    unbound = Bound(verified=False, file=spec.file, line=spec.line)
    if not path.is_file():
        return msgspec.structs.replace(unbound, why=f"no such file: {spec.file}")
    found = python_source.outline(spec.file)
    if found is None and path.suffix not in _PYTHON:
        return msgspec.structs.replace(unbound, why=f"{path.name} is not a Python file")
    line = spec.line if found is None or spec.line in found.lines else found.slide(spec.line)
    if line is not None:
        return msgspec.structs.replace(spec, line=line)
    near = nearest_lines(spec.line, found.lines) if found is not None else ()
    why = f"no code at {path.name}:{spec.line}"
    return msgspec.structs.replace(unbound, why=why, nearest_lines=near)


def _correct_function(inside: Inside, spec: Spec) -> Spec | Bound:
    assert spec.function is not None
    names: list[str] = []
    for path in _own_files(inside.launched):
        found = python_source.outline(str(path))
        if found is None:
            continue
        wanted = spec.function.removeprefix(f"{path.stem}.")
        for name, line in found.functions.items():
            if name == wanted or name.endswith(f".{wanted}"):
                return msgspec.structs.replace(spec, file=str(path), line=line, function=None)
        names += found.functions
    return Bound(
        verified=False,
        why=f"no function {spec.function} in the program's own files",
        near_names=near_names(spec.function, names),
    )


def _own_files(launched: Launch | None) -> list[Path]:
    """Return the program, then the modules beside it and one folder down (at most 200)."""
    if launched is None:
        return []
    program = Path(launched.program) if launched.program else None
    root = program.parent if program else Path(launched.cwd)
    beside = [*sorted(root.glob("*.py")), *sorted(root.glob("*/*.py"))]
    first = [program] if program else []
    return list(dict.fromkeys([*first, *beside]))[:200]


async def _explain(inside: Inside, spec: Spec) -> Bound:
    corrected = _correct(inside, spec)
    if isinstance(corrected, Bound):
        return corrected
    return Bound(verified=False, why="the file has not been loaded by the program")


async def _arguments(inside: Inside, frame: Frame) -> list[str] | None:
    del inside
    if frame.file is None or frame.line is None:
        return None
    return python_source.arguments(frame.file, frame.function.rpartition(".")[2], frame.line)


async def _complete(inside: Inside, variables: Sequence[Variable]) -> list[Variable]:
    """Add the length, and the kind of the elements, to what debugpy cut; in one request."""
    variables = [one for one in variables if one.name != _LENGTH]
    cut = [one for one in variables if one.type in _CUT and one.expression and "..." in one.value]
    if not cut:
        return list(variables)
    asked = ",".join(
        f"(len({one.expression}),type(next(iter({one.expression}),None)).__name__)" for one in cut
    )
    try:
        answer = (await inside.evaluate(f"[{asked}]", inside.looked_at, Purpose.PRINT)).value
    except DebuggerError:
        return list(variables)
    sizes = re.findall(r"\((\d+), '([^']*)'\)", answer)
    if len(sizes) != len(cut):
        return list(variables)
    improved: Mapping[int, Variable] = {
        id(one): _sized(one, int(size), element)
        for one, (size, element) in zip(cut, sizes, strict=True)
    }
    return [improved.get(id(one), one) for one in variables]


def _sized(variable: Variable, size: int, element: str) -> Variable:
    if variable.type in {"str", "bytes", "bytearray"}:
        value = f"{variable.type}[{size}] {unclipped(variable.value)[0][:_TEXT_MAX]}…"
        return msgspec.structs.replace(variable, value=value)
    is_plain = " object at 0x" not in variable.value
    head = f" {variable.value}" if is_plain else ""
    value = f"{variable.type}[{size}] of {element}{head}"
    return msgspec.structs.replace(variable, value=value, indexed=size)


async def _page(inside: Inside, value: Variable, start: int, count: int) -> list[Variable] | None:
    """Read a slice of a large container: `variables` ignores start and count, and cuts."""
    if value.expression is None or value.type not in _CUT or value.indexed is None:
        return None
    name, stop = value.expression, start + count
    if value.type in _SEQUENCES:
        part = f"list(__import__('itertools').islice({name},{start},{stop}))"
    elif value.type == "dict":
        part = f"list(__import__('itertools').islice({name}.values(),{start},{stop}))"
    else:
        return None
    found = await _elements(inside, part)
    if value.type == "dict":
        keys = await _elements(inside, part.replace(".values(),", ".keys(),"))
        return [
            msgspec.structs.replace(one, name=key.value, expression=None)
            for key, one in zip(keys, found, strict=False)
        ]
    return [
        msgspec.structs.replace(one, name=f"[{start + at}]", expression=f"{name}[{start + at}]")
        for at, one in enumerate(found)
    ]


async def _elements(inside: Inside, expression: str) -> list[Variable]:
    whole = await inside.evaluate(expression, inside.looked_at, Purpose.PRINT)
    found = await inside.fetch(whole.handle, start=None, count=None)
    return [one for one in found if one.name.isdecimal()]


PROFILE = Profile(
    name="debugpy",
    languages=("python",),
    install="pip install debugpy",
    find=_find,
    launch=_launch,
    attach=_attach,
    contexts={
        Purpose.PRINT: ("watch",),
        Purpose.EVALUATE: ("repl",),
        Purpose.RAW: ("repl",),
    },
    # It lets go at once, but answers only when the program has ended.
    detach_s=0.3,
    exception_filters=("uncaught",),
    words=_words,
    # By default a NameError in a condition is not even told.
    properties={
        "skipPrintBreakpointException": [],
        "skipSuspendOnBreakpointException": ["BaseException"],
    },
    hit_condition=lambda count: f">={count}",
    printed=_printed,
    exited=_exited,
    frames=_frames,
    details=_details,
    problem=_problem,
    correct=_correct,
    explain=_explain,
    arguments=_arguments,
    complete=_complete,
    page=_page,
)
