"""Corrects command lines of tools that run or examine a program: `strace ./app`, `pstack 12`."""

from __future__ import annotations

import os.path
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from debugger.cli.reference import PROGRAM
from debugger.cli.translation.argument_order import Correction
from debugger.cli.translation.debugger_invocations import BREAK_COMMAND, parse_native, start_words
from debugger.cli.translation.program_words import split_command

Words = tuple[str, ...]
_REASON: Final = "the question that this tool would answer"
_PID_FLAGS: Final = frozenset({"-p", "--pid"})
_OWN_NAMES: Final = frozenset({PROGRAM, "dbg"})
# Commands before a command: `timeout 5 debugger crash -- ./app`.
_PREFIXES: Final = frozenset({"timeout", "time", "sudo", "nice", "nohup", "env", "stdbuf", "exec"})


@dataclass(frozen=True)
class _Tool:
    """A tool, and the question that is meant by it."""

    question: str  # of a program that it runs
    # The options that take the word behind them.
    valued: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()  # the first word, if it is none of the program
    of_process: str = "hang"


_TRACER: Final = _Tool(
    "path",
    frozenset({"-e", "-o", "-p", "-s", "-u", "-E", "-P", "-a", "-I", "-S", "-n", "-x", "-l", "-A",
               "-D", "-F"}),
)  # fmt: skip
_SAMPLER: Final = _Tool(
    "path",
    frozenset({"-o", "-r", "-d", "-f", "-F", "-e", "-c", "-p", "--pid", "--rate", "--duration",
               "--output", "--format", "--call-graph"}),
    frozenset({"record", "top", "stat", "trace", "report", "script", "annotate", "run", "dump"}),
)  # fmt: skip
_STACK_READER: Final = _Tool("hang")
_MEMORY_CHECKER: Final = _Tool("crash")
_TOOLS: Final[Mapping[str, _Tool]] = {
    **dict.fromkeys(
        (
            "strace",
            "ltrace",
            "dtruss",
            "truss",
            "uftrace",
            "ktrace",
            "frida-trace",
            "syscalls",
            "ftrace",
            "bpftrace",
            "uprobe",
            "dtrace",
            "sysdig",
        ),
        _TRACER,
    ),
    **dict.fromkeys(("perf", "py-spy", "rbspy", "austin", "samply", "flamegraph"), _SAMPLER),
    **dict.fromkeys(("coverage", "cprofile", "kernprof", "pyinstrument", "scalene"), _SAMPLER),
    **dict.fromkeys(("memray", "hyperfine", "nyc", "c8", "gcov", "uprof", "instruments"), _SAMPLER),
    **dict.fromkeys(("callgrind", "cachegrind", "gprof", "massif", "heaptrack"), _SAMPLER),
    **dict.fromkeys(("pstack", "gstack", "eu-stack", "jstack", "jcmd"), _STACK_READER),
    **dict.fromkeys(("valgrind", "catchsegv", "memcheck", "drmemory"), _MEMORY_CHECKER),
    "coredumpctl": _Tool("crash"),
}
_PROMPT: Final = re.compile(
    r"\((?:gdb|lldb|dlv|rr|i?pdb|rdbg|jdb|byebug)\)\Z|[a-z]+> ?\Z|[>$]+\Z", re.IGNORECASE
)
_DUMP_SIGNALS: Final = frozenset({"-3", "-6", "-QUIT", "-ABRT", "-SIGQUIT", "-SIGABRT"})
_INTERPRETERS: Final = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".rb": "ruby",
    ".php": "php",
}
_PROBED: Final = re.compile(r"(?P<program>\.{0,2}/[\w./-]+):(?P<function>[A-Za-z_]\w*)")
_COUNTING: Final = re.compile(r"--tool=(?:callgrind|cachegrind|massif|dhat|lackey)\Z")
_RR_VERBS: Final = frozenset({"record", "replay", "ps", "pack"})
_GDB_FRONT_END: Final = re.compile(
    r"[\w.+-]+-gdb(?:tui)?|ddd|gdbgui|gdbtui|nemiver|kdbg|seergdb|gf2?"
)
# Modules that watch a program: `python -m trace --trace app.py`.
_PYTHON_TOOLS: Final = frozenset(
    (one,)
    for one in ("trace", "cProfile", "profile", "coverage", "pyinstrument", "scalene", "viztracer",
                "line_profiler", "kernprof", "memory_profiler", "hunter", "memray")
)  # fmt: skip
_JAVA_VALUED: Final = frozenset({"-classpath", "-cp", "-sourcepath", "--class-path"})


def correct_tool(words: Sequence[str], behind: Sequence[str]) -> Correction | None:
    """Return our commands for the command line of another tool; None where it is none.

    Args:
        words: The words before `--`.
        behind: The words behind it.
    """
    name = os.path.basename(words[0])
    if len(words) > 1 and _PROMPT.match(words[0]):
        return Correction("a prompt is no part of a command", ((*words[1:], *_behind(behind)),))
    if len(words) == len(("kill", "-3", "1")) and name == "kill" and words[1] in _DUMP_SIGNALS:
        return Correction(_REASON, (("hang", "--pid", words[2]),))
    if (own := _drop_prefix(words)) is not None:
        return Correction(f"the command follows {PROGRAM}", ((*own, *_behind(behind)),))
    if (correct := _find_debugger(name)) is not None:
        return correct(words[1:], behind)
    if name.startswith("python") and words[1:2] == ("-m",) and words[2:3] in _PYTHON_TOOLS:
        return _correct_question(words[2], _SAMPLER, words[3:], behind) if words[3:] else None
    tool = _TOOLS.get(name)
    return None if tool is None else _correct_question(name, tool, words[1:], behind)


def _find_debugger(name: str) -> Callable[[Sequence[str], Sequence[str]], Correction] | None:
    return _correct_front_end if _GDB_FRONT_END.fullmatch(name) else _DEBUGGERS.get(name)


def _behind(behind: Sequence[str]) -> Words:
    return ("--", *behind) if behind else ()


def _drop_prefix(words: Sequence[str]) -> Words | None:
    """Return the words behind our own name: `timeout 5 debugger hang`, `debugger debugger hang`."""
    at = next((at for at, one in enumerate(words) if one in _OWN_NAMES), None)
    is_prefix = at == 0 or words[0] in _PREFIXES
    if at is None or not is_prefix or len(words) == at + 1 or words[at + 1].startswith("-"):
        return None
    return tuple(words[at + 1 :])


def _split_options(
    words: Sequence[str], valued: frozenset[str]
) -> tuple[list[tuple[str, str]], Words]:
    """Separate a tool's options, with their values, from the program behind them."""
    options: list[tuple[str, str]] = []
    remaining = deque(words)
    while remaining and remaining[0].startswith("-") and len(remaining[0]) > 1:
        flag, is_joined, value = remaining.popleft().partition("=")
        if not is_joined and (flag in valued or flag in _PID_FLAGS) and remaining:
            value = remaining.popleft()
        options.append((flag, value))
    return options, tuple(remaining)


def _correct_question(
    name: str, tool: _Tool, words: Sequence[str], behind: Sequence[str]
) -> Correction | None:
    given = list(words)
    verb = given.pop(0) if given and given[0] in tool.verbs else ""
    options, program = _split_options(given, tool.valued)
    program = (*program, *behind)
    pids = [value for flag, value in options if flag in _PID_FLAGS and value.isdecimal()]
    if not pids and program[:1] and program[0].isdecimal():
        pids = [program[0]]
    if name == "coredumpctl":
        commands = (("crash", "--core", "CORE", "PROGRAM"), ("crash", "--", "CMD"))
        return Correction("name the core file and the program", commands)
    if pids:
        return Correction(_REASON, ((tool.of_process, "--pid", pids[0]),))
    if not program and "-e" not in dict(options):
        is_read = verb in {"report", "script", "annotate"}
        question = ("evidence", "list") if is_read else (tool.question, "--", "CMD")
        return Correction(_REASON, (question,))
    flags = dict(options)
    if probed := _PROBED.search(" ".join((flags.get("-e", ""), *program))):  # `uprobe:./app:f`
        return Correction(_REASON, (("calls", probed["function"], "--", probed["program"]),))
    traced = flags.get("-e") or flags.get("-i") or ""
    if name in {"ltrace", "uftrace", "frida-trace"} and re.fullmatch(r"[\w*:.]+", traced):
        return Correction(_REASON, (("calls", traced, "--", *program),))
    if (interpreter := _INTERPRETERS.get(os.path.splitext(program[0])[1])) is not None:
        program = (interpreter, *program)
    is_counting = any(_COUNTING.match("=".join(one)) for one in options)
    return Correction(_REASON, (("path" if is_counting else tool.question, "--", *program),))


def _correct_rr(words: Sequence[str], behind: Sequence[str]) -> Correction:
    options, remaining = _split_options(words, frozenset())
    verb = remaining[0] if remaining and remaining[0] in _RR_VERBS else ""
    _, program = _split_options(remaining[1:] if verb else remaining, frozenset({"-n", "-o"}))
    program = (*program, *behind)
    del options
    if verb in {"", "record"} and program:
        return Correction("going back is of a session", (start_words(program), ("back",)))
    return Correction("going back is of a session", (("start", "PROGRAM"), ("back",)))


def _correct_jdb(words: Sequence[str], behind: Sequence[str]) -> Correction:
    reason = "jdb's command line, in the words of this debugger"
    options, program = _split_options(words, _JAVA_VALUED | {"-attach", "-connect", "-listen"})
    address = next((value for flag, value in options if flag in {"-attach", "-connect"}), None)
    if address is not None:
        host = f"localhost:{address}" if address.isdecimal() else address
        return Correction(reason, (("attach", "--connect", host),))
    program = (*program, *behind)
    if not program:
        return Correction(reason, (("start", "PROGRAM"),))
    java = [
        word
        for flag, value in options
        for word in (
            (flag, value) if flag in _JAVA_VALUED else (f"{flag}={value}" if value else flag,)
        )
    ]
    return Correction(reason, (("start", "java", "--", *java, *program),))


def _correct_rdbg(words: Sequence[str], behind: Sequence[str]) -> Correction:
    reason = "rdbg's command line, in the words of this debugger"
    options, program = _split_options(
        words, frozenset({"-e", "-x", "--port", "--host", "-r", "-I"})
    )
    flags = dict(options)
    if {"-A", "--attach", "attach"} & flags.keys():
        port = flags.get("--port") or next(iter(program), "PORT")
        return Correction(reason, (("attach", "--connect", f"localhost:{port}"),))
    line_words = (*program, *behind)
    if not line_words:
        return Correction(reason, (("start", "PROGRAM"),))
    if {"rspec", "minitest", "test"} & set(line_words[:3]):
        return Correction("tests are run by a question", (("test", "--", *line_words),))
    script = next((one for one in line_words if one.endswith(".rb")), "")
    commands = [one.strip() for one in flags.get("-e", "").split(";;")]
    places = [match[1] for one in commands if (match := BREAK_COMMAND.match(one))]
    places = [f"{script}:{one}" if one.isdecimal() else one for one in places]
    if line_words[0] in {"ruby", "bundle"}:
        return Correction(reason, (("crash", "--", *line_words),))
    breaks = [word for place in places for word in ("--break", place)]
    return Correction(reason, (start_words(line_words, breaks),))


def _correct_server(words: Sequence[str], behind: Sequence[str]) -> Correction:
    """Correct `gdbserver :1234 ./app`: no server is needed to debug a program here."""
    _, remaining = _split_options(words, frozenset())
    program = (*(one for one in remaining if not re.match(r"[\w.-]*:\d+\Z", one)), *behind)
    if program and program[0].isdecimal():
        return Correction("no server is needed", (("attach", program[0]),))
    line_words = split_command(program[0]) if len(program) == 1 else program
    return Correction("no server is needed", (start_words(line_words or ("PROGRAM",)),))


def _correct_front_end(words: Sequence[str], behind: Sequence[str]) -> Correction:
    """Correct `ddd ./app` and `gdbgui './app 3'`, which take gdb's options."""
    found = parse_native(words, behind, is_lldb=False)
    if len(found.program) == 1:
        found.program = list(split_command(found.program[0]))
    return found.correction("gdb's options, in the words of this debugger")


def _correct_other(words: Sequence[str], behind: Sequence[str]) -> Correction:
    """Correct the command line of a debugger of which only the program, or process, is known."""
    reason = "another debugger's command line, in the words of this one"
    options, program = _split_options(words, frozenset({"-c", "-z", "-I", "-x", "-S"}))
    pid = next((value for flag, value in options if flag in _PID_FLAGS), "")
    if pid:
        return Correction(reason, (("attach", pid),))
    line_words = (*program, *behind) or ("PROGRAM",)
    return Correction(reason, (start_words(line_words),))


_DEBUGGERS: Final[Mapping[str, Callable[[Sequence[str], Sequence[str]], Correction]]] = {
    "rr": _correct_rr,
    "jdb": _correct_jdb,
    "rdbg": _correct_rdbg,
    "byebug": _correct_rdbg,
    "gdbserver": _correct_server,
    **dict.fromkeys(
        (
            "phpdbg",
            "pry",
            "ocamldebug",
            "bashdb",
            "zshdb",
            "dbx",
            "mdb",
            "windbg",
            "windbgx",
            "cdb",
            "ntsd",
            "r2",
            "radare2",
            "rizin",
            "edb",
            "x64dbg",
            "netcoredbg",
            "mdbg",
            "totalview",
            "perldb",
            "undo",
            "udb",
            "seer",
            "hdb",
            "uscope",
        ),
        _correct_other,
    ),
}
