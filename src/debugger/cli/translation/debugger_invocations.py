"""Corrects whole invocations of other debuggers: `gdb --args ./app`, `dlv exec ./app`."""

from __future__ import annotations

import os.path
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from debugger.cli.translation.argument_order import Correction
from debugger.cli.translation.program_words import SCRIPT_SUFFIX

Words = tuple[str, ...]
_GDB_PROGRAMS: Final = frozenset(["gdb", "rust-gdb", "cgdb", "gdb-multiarch"])
_LLDB_PROGRAMS: Final = frozenset(["lldb", "rust-lldb", "codelldb"])
_DELVE_PROGRAMS: Final = frozenset(["dlv", "delve"])
_PDB_PROGRAMS: Final = frozenset(
    ["pdb", "pdb3", "ipdb", "ipdb3", "pudb", "pudb3", "debugpy", "bdb"]
)
_PYTHON: Final = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*t?\Z")
_RUNNER: Final = re.compile(rf"{_PYTHON.pattern}|(?:.*/)?(?:java|ruby[\d.]*|php[\d.]*)\Z")
_NODE_RUNNERS: Final = frozenset({"tsx", "ts-node", "nodemon", "deno", "bun"})
# Between words that are joined by \0: `ruby -r debug app.rb`.
_DEBUG_FLAG: Final = re.compile(
    r"\0(?:-r\0?(?:debug|byebug|pry(?:-byebug)?)(?:/\w+)?|-d\0?xdebug\.[^\0]*|-agentlib:jdwp[^\0]*|-Xdebug|-Xrunjdwp[^\0]*"
    r"|--inspect(?:-brk|-wait)?(?:=[^\0]*)?)(?=\0|\Z)"
)
_NODE: Final = re.compile(r"(?:.*/)?(?:node|nodejs)\Z")
_SCRIPT: Final = re.compile(rf"[^-]\S*\.{SCRIPT_SUFFIX}\Z")
_JOINED_FORMAT: Final = re.compile(r"(?:p|print|x|disas\w*|output|display|call)/\w+\Z")
_CORE: Final = re.compile(r"(?:.*/)?core(?:[.-].*)?\Z|.*\.core\Z")
_PYTEST_DEBUGGER: Final = re.compile(r"--(?:pdb|trace|pdbcls=.*)\Z")
_ADDRESS: Final = re.compile(r"[\w.-]+:\d+\Z")
_VERSION: Final = re.compile(r"(?<=db)-\d[\d.]*\Z")  # `lldb-19`
_REMOTE: Final = re.compile(r"(?:target (?:extended-)?remote|gdb-remote)\s+(\S*:\d+)\Z")
_ASSIGNED: Final = re.compile(r"[A-Z_][A-Z0-9_]*=")
_BUILT_RUNS: Final = frozenset(
    {("cargo", "run"), ("npm", "run"), ("npm", "start"), ("yarn", "run")}
)
_MANAGERS: Final = frozenset({"uv", "poetry", "pipenv", "pdm", "rye"})
_TEST_RUNNERS: Final = frozenset(
    {"pytest", "py.test", "jest", "vitest", "mocha", "ctest", "rspec", "phpunit", "tox", "nox",
     "ava", "tap", "minitest", "nosetests", "cypress", "playwright"}
)  # fmt: skip
# These run tests by the verb `test`, and others by their names: `npx jest`, `bundle exec rspec`.
_BUILD_TOOLS: Final = frozenset(
    {"go", "cargo", "npx", "npm", "yarn", "pnpm", "bun", "deno", "mvn", "./mvnw", "gradle",
     "./gradlew", "make", "bazel", "dotnet", "rake", "bundle", "rails", "mix", "sbt", "hatch",
     "swift", "meson", "tox", "nx", "turbo", "lerna", "composer", "artisan"}
)  # fmt: skip
_TEST_VERB: Final = re.compile(r":?(?:\w+:)*(?:test|tests|check|verify|nextest)\Z")
_TEST_FILE: Final = re.compile(
    r"(?:.*/)?(?:test_\w+|\w+_test|tests?)\.py(?:::\S+)?\Z|\S+\.py::\S+\Z"
)
# Options with a value, by their meaning here; others of these debuggers are switches.
_COMMAND_FLAGS: Final = frozenset(
    [
        "-ex",
        "--ex",
        "-eval-command",
        "--eval-command",
        "-iex",
        "-o",
        "--one-line",
        "-O",
        "-k",
        "--one-line-on-crash",
    ]
)
_PID_FLAGS: Final = frozenset({"-p", "--pid", "-pid", "--attach-pid"})
_NAME_FLAGS: Final = frozenset({"-n", "--attach-name", "--name"})
_CORE_FLAGS: Final = frozenset({"-c", "--core", "-core"})
_FILE_FLAGS: Final = frozenset({"-e", "-f", "--exec", "-exec", "--file", "--program"})
_BATCH_FLAGS: Final = frozenset({"-batch", "--batch", "-b"})
_OTHER_VALUES: Final = frozenset({"-x", "-s", "-d", "-cd", "--cd", "-S", "--source", "-l", "-a"})
_RUN_WORDS: Final = frozenset(["r", "run", "start", "starti", "c", "continue", "process"])
_OWN_FLAGS: Final = frozenset(
    {"--break", "-b", "--breakpoint", "--stop-on-entry", "--cwd", "--env"}
)
_SWITCHES: Final = frozenset({"--stop-on-entry"})
BREAK_COMMAND: Final = re.compile(r"(?:b|br|break|tbreak|breakpoint set -n)\s+(\S.*)\Z")
_STACK: Final[Mapping[str, Words]] = {
    "bt": ("backtrace",),
    "backtrace": ("backtrace",),
    "where": ("backtrace",),
    "bt full": ("backtrace", "--locals"),
    "bt all": ("backtrace", "--all"),
    "thread apply all bt": ("backtrace", "--all"),
    "thread apply all bt full": ("backtrace", "--all", "--locals"),
    "thread backtrace all": ("backtrace", "--all"),
    "info locals": ("locals",),
    "info registers": ("registers",),
    "info threads": ("threads",),
}


@dataclass
class _Invocation:
    """What the words of a debugger's command line name."""

    program: list[str] = field(default_factory=list)  # with its arguments
    pid: str | None = None
    name: str | None = None
    core: str | None = None
    commands: list[str] = field(default_factory=list)
    is_batch: bool = False

    def correction(self, reason: str) -> Correction:
        """Return the commands that do the same here."""
        breaks = [match[1] for one in self.commands if (match := BREAK_COMMAND.match(one))]
        then = [_STACK[one] for one in self.commands if one in _STACK]
        options = [word for place in breaks for word in ("--break", place)]
        for one in self.commands:
            self.program += one.split()[2:] if one.startswith("set args ") else ()
        address = next((match[1] for one in self.commands if (match := _REMOTE.match(one))), "")
        if address:
            host = f"localhost{address}" if address.startswith(":") else address
            return Correction(reason, (("attach", "--connect", host, *self.program[:1]), *then))
        if self.pid or self.name:
            who = (self.pid,) if self.pid else ("--name", self.name or "")
            attach = ("attach", *(one or "" for one in who), *options)
            return Correction(reason, ((*attach, *(("--pause",) if then else ())), *then))
        if self.core:
            program = self.program[:1] or ["PROGRAM"]
            return Correction(reason, (("attach", "--core", self.core, *program), *then))
        if not self.program:
            return Correction(reason, (("start", "PROGRAM", *options),))
        runs = any(one.split()[0] in _RUN_WORDS for one in self.commands if one.split())
        if self.is_batch and runs and not breaks:
            return Correction(reason, (("crash", "--", *_with_interpreter(self.program)),))
        return Correction(reason, (start_words(self.program, options), *then))


def start_words(program: Sequence[str], options: Sequence[str] = ()) -> Words:
    """Return `start PROGRAM OPTIONS -- ARGS`, without an interpreter before a script."""
    words = list(program)
    is_code = not {"-c", "-e", "-p"}.isdisjoint(words[1:2])
    if len(words) > 1 and (_PYTHON.match(words[0]) or _NODE.match(words[0])) and not is_code:
        at = next((at for at, one in enumerate(words) if _SCRIPT.match(one)), 1)
        words = words[at if words[1][:1] == "-" and words[1] != "-m" else 1 :]
    if words[0] == "-m" and len(words) > 1:
        first, args = ["-m", words[1]], words[2:]
    else:
        first, args = words[:1], words[1:]
    return ("start", *first, *options, *(("--", *args) if args else ()))


def is_core_file(name: str) -> bool:
    """Return whether a file's name is that of a core file."""
    return _CORE.match(name) is not None


def names_debugger(name: str) -> bool:
    """Return whether a program is another debugger."""
    known = _GDB_PROGRAMS | _LLDB_PROGRAMS | _DELVE_PROGRAMS | _PDB_PROGRAMS
    return os.path.basename(name) in known


def _with_interpreter(program: Sequence[str]) -> Words:
    is_script = program[0].endswith(".py")
    return ("python3", *program) if is_script else tuple(program)


def translate_invocation(  # noqa: PLR0911 - one for each debugger
    words: Sequence[str], rest: Sequence[str] | None
) -> Correction | None:
    """Return our commands for another debugger's command line, or for a program alone.

    Args:
        words: The words before `--`.
        rest: The words behind it; None without one.
    """
    behind = list(rest or ())
    if not words:
        return _bare_program(behind) if behind else None
    first, name = words[0], _VERSION.sub("", os.path.basename(words[0]))
    if name in _GDB_PROGRAMS or name in _LLDB_PROGRAMS:
        return parse_native(words[1:], behind, is_lldb=name in _LLDB_PROGRAMS).correction(
            f"{name}'s command line, in the words of this debugger"
        )
    if name in _DELVE_PROGRAMS:
        return _correct_delve(words[1:], behind)
    if name in _PDB_PROGRAMS:
        return _correct_pdb(words[1:], behind)
    is_module = _PYTHON.match(name) and words[1:2] == ("-m",)
    if is_module and words[2:3] and words[2] in _PDB_PROGRAMS:
        return _correct_pdb(words[3:], behind)
    if _NODE.match(name):
        return _correct_node(words[1:], behind)
    is_pdb = first == "-c" and any(_SCRIPT.match(one) for one in words[2:])
    if is_pdb and not _CORE.match(words[1]):  # `-c continue app.py`
        return _correct_pdb(words, behind)
    if first.startswith("-"):
        return _correct_options(words, behind)
    return _correct_program(words, behind)


def _bare_program(program: Sequence[str]) -> Correction:
    return Correction("no command before --", (start_words(program),))


def runs_tests(words: Sequence[str]) -> bool:
    """Check whether a command line is that of a test runner: `mvn -q test`, `bundle exec rspec`."""
    if words[0] in _TEST_RUNNERS:
        return True
    named = [one for one in words[1:] if not one.startswith("-") and one not in {"run", "exec"}]
    is_runner = bool(named) and (named[0] in _TEST_RUNNERS or _TEST_VERB.match(named[0]))
    return words[0] in _BUILD_TOOLS and bool(is_runner)


def _correct_noun(words: Sequence[str], behind: Sequence[str]) -> Correction | None:
    """Correct what a program or an address is called before it: `core ./app core.1`."""
    if _PYTHON.match(words[0]) and re.match(r"\w[\w.]*\(", " ".join(words[1:])):  # gdb's
        return Correction("a statement is eval", (("eval", " ".join(words[1:])),))
    if words[0] in {"core", "core-file", "corefile", "coredump", "core-dump"} and words[1:]:
        opened = parse_native([one for one in words[1:] if one != "-c"], behind, is_lldb=False)
        core = opened.core or words[-1]
        program = next((one for one in opened.program if one != core), "PROGRAM")
        opens = tuple((name, "--core", core, program) for name in ("crash", "attach"))
        return Correction("a core file is an option", opens)
    runner = list(words[2:]) if words[0] in _MANAGERS and words[1:2] == ("run",) else []
    scripts = runner[1:2] if runner and _PYTHON.match(runner[0]) else runner[:1]
    if scripts and _SCRIPT.match(scripts[0]):  # `uv run python app.py`
        return Correction("a program is started", (start_words([*runner, *behind]),))
    if words[0] in {"inspect", "remote"} and words[1:] and _ADDRESS.match(words[1]):
        return Correction("an address is --connect", (("attach", "--connect", words[1]),))
    return None


def _start_with_environment(words: Sequence[str]) -> Correction | None:
    """Suggest `start ./app --env K=V` for `K=V ./app`."""
    count = next((at for at, one in enumerate(words) if not _ASSIGNED.match(one)), len(words))
    if not count or count == len(words):
        return None
    options = [word for one in words[:count] for word in ("--env", one)]
    return Correction("a program is started", (start_words(words[count:], options),))


def _without_debug_flags(words: Sequence[str]) -> Words:
    """Return a runtime's command line without the options that make it wait for a debugger."""
    if not _RUNNER.match(words[0]) and os.path.basename(words[0]) not in _NODE_RUNNERS:
        return tuple(words)
    text = _DEBUG_FLAG.sub("\0", "\0".join(words))
    return tuple(one for one in text.split("\0") if one)


def _correct_program(  # noqa: PLR0911 - one for each kind
    words: Sequence[str], behind: Sequence[str]
) -> Correction | None:
    """Correct a program without a command of ours."""
    command_words = [*words, *behind]
    noun = _correct_noun(words, behind)
    if noun is not None or (noun := _start_with_environment(command_words)) is not None:
        return noun
    tests = [one for one in command_words if not _PYTEST_DEBUGGER.match(one)]
    if runs_tests(words):
        return Correction("tests are run by a question", (("test", "--", *tests),))
    if _TEST_FILE.match(words[0]) and (tests[1:2] or "::" in words[0]):
        return Correction("tests are run by a question", (("test", "--", "pytest", *tests),))
    is_managed = words[0] in _MANAGERS and words[1:2] == ("run",)
    runner = words[2:] if is_managed else words[1:]
    is_module = tuple(runner[:2]) in {("-m", "pytest"), ("-m", "unittest")}
    if is_module or (is_managed and runner[:1] == ("pytest",)):
        return Correction("tests are run by a question", (("test", "--", *tests),))
    if tuple(words[:2]) == ("go", "run") and len(words) > len(("go", "run")):
        return Correction("start builds it", (start_words([*words[2:], *behind]),))
    if tuple(words[:2]) in _BUILT_RUNS:
        return Correction("a program is started", (start_words(command_words),))
    is_path = "/" in words[0] and ":" not in words[0] and not _JOINED_FORMAT.match(words[0])
    if is_path and words[1:2] and (_CORE.match(words[-1]) or words[1] in _COMMAND_FLAGS):
        return parse_native(words, behind, is_lldb=False).correction("a program is started")
    plain = _without_debug_flags(words)
    is_started = is_path or _SCRIPT.match(words[0]) or (_RUNNER.match(words[0]) and words[1:])
    if is_started or plain != tuple(words):
        return Correction("a program is started", (start_words([*plain, *behind]),))
    if words[0] == "inspect" and words[1:] and _SCRIPT.match(words[1]):
        return Correction("a program is started", (start_words([*words[1:], *behind]),))
    return None


def _correct_options(words: Sequence[str], behind: Sequence[str]) -> Correction | None:
    """Correct options without a command: those of gdb, or of `start`."""
    if words[0] in _OWN_FLAGS:
        return _start_with_options(words, behind)
    if words[0] == "-m" and len(words) > 1:
        is_debugger = words[1] in _PDB_PROGRAMS
        module = Correction("no command", (start_words([*words, *behind]),))
        return _correct_pdb(words[2:], behind) if is_debugger else module
    if _PYTEST_DEBUGGER.match(words[0]) and len(words) > 1:
        tests = ("pytest", *words[1:], *behind)
        return Correction("tests are run by a question", (("test", "--", *tests),))
    flag = words[0].partition("=")[0]
    if (configured := _correct_configuration(words, behind)) is not None:
        return configured
    known = _COMMAND_FLAGS | _PID_FLAGS | _CORE_FLAGS | _BATCH_FLAGS | {"--args", "-args"}
    if flag not in known:
        return None
    found = parse_native(words, behind, is_lldb=False)
    return found.correction("no command; options of another debugger")


def _correct_configuration(words: Sequence[str], behind: Sequence[str]) -> Correction | None:
    """Take the words of a launch.json, `--request launch --program ./app`, for their command."""
    given = [word for one in words for word in (one.split("=", 1) if one[:2] == "--" else [one])]
    flags = {one.lower().replace("-", "") for one in given if one.startswith("--")}
    request = next((after for one, after in pairwise(given) if one == "--request"), None)
    is_attach = request == "attach" or not flags.isdisjoint({"processid", "pid", "attach"})
    if request is None and flags.isdisjoint({"program", "module", "script", "processid"}):
        return None
    own = list(given)
    if request is not None:
        at = own.index("--request")
        del own[at : at + 2]
    own = ["--pid" if one.lower() in {"--processid", "--process-id"} else one for one in own]
    name = "attach" if is_attach else "start"
    return Correction("no command", ((name, *own, *(("--", *behind) if behind else ())),))


def _start_with_options(words: Sequence[str], behind: Sequence[str]) -> Correction | None:
    options: list[str] = []
    remaining = deque(words)
    while remaining and remaining[0].startswith("-"):
        flag = remaining.popleft()
        options.append("--break" if flag in {"-b", "--breakpoint"} else flag)
        if remaining and flag not in _SWITCHES and "=" not in flag:
            options.append(remaining.popleft())
    program = [*remaining, *behind]
    return Correction("no command", (start_words(program, options),)) if program else None


def parse_native(words: Sequence[str], behind: Sequence[str], *, is_lldb: bool) -> _Invocation:
    """Parse the options of gdb or LLDB."""
    found = _Invocation()
    remaining = deque(words)
    while remaining:
        word = remaining.popleft()
        flag, is_joined, joined = word.partition("=")
        if flag in {"--args", "-args"}:
            found.program += remaining
            break
        if flag in _BATCH_FLAGS:
            found.is_batch = True
        elif flag.startswith("-"):
            value = joined if is_joined else None
            _take_option(found, flag, value, remaining, is_lldb=is_lldb)
        else:
            _take_file(found, word)
    found.program += behind
    return found


def _take_option(
    found: _Invocation, flag: str, value: str | None, remaining: deque[str], *, is_lldb: bool
) -> None:
    is_name = is_lldb and flag in _NAME_FLAGS
    taking = _COMMAND_FLAGS | _PID_FLAGS | _CORE_FLAGS | _FILE_FLAGS | _OTHER_VALUES
    if value is None and (flag in taking or is_name) and remaining:
        value = remaining.popleft()
    if value is None:
        return
    if flag in _COMMAND_FLAGS:
        found.commands.append(value)
    elif flag in _PID_FLAGS:
        found.pid = value
    elif is_name:
        found.name = value
    elif flag in _CORE_FLAGS:
        found.core = value
    elif flag in _FILE_FLAGS:
        found.program.append(value)


def _take_file(found: _Invocation, word: str) -> None:
    """Take a word that is no option: the program, then a process or a core file."""
    if found.program and word.isdecimal():
        found.pid = word
    elif _CORE.match(word) and found.program:
        found.core = word
    else:
        found.program.append(word)


def _correct_delve(words: Sequence[str], behind: Sequence[str]) -> Correction:
    reason = "delve's command line, in the words of this debugger"
    names = [one for one in words if not one.startswith("-")]
    verb, args = (names[0], names[1:]) if names else ("debug", [])
    if verb == "attach" and args:
        return Correction(reason, (("attach", args[0]),))
    if verb == "core" and len(args) > 1:
        return Correction(reason, (("attach", "--core", args[1], args[0]),))
    if verb == "connect" and args:
        host = f"localhost{args[0]}" if args[0].startswith(":") else args[0]
        return Correction(reason, (("attach", "--connect", host),))
    if verb == "test":
        flags = [re.sub(r"\A-{1,2}test\.", "-", one) for one in behind]
        own = words[words.index("test") + 1 :] if "test" in words else args
        return Correction(reason, (("test", "--", "go", "test", *own, *flags),))
    if verb == "trace":
        package = args[:-1] or ["." if args else "CMD"]
        function = args[-1] if args else "FUNCTION"
        return Correction(reason, (("calls", function, "--", *package, *behind),))
    program = args[:1] or (["."] if verb in {"debug", "exec"} else ["PROGRAM"])
    return Correction(reason, (start_words([*program, *args[1:], *behind]),))


def _correct_pdb(words: Sequence[str], behind: Sequence[str]) -> Correction:
    reason = "pdb's command line, in the words of this debugger"
    commands: list[str] = []
    program: list[str] = []
    remaining = deque(words)
    while remaining and not program:
        word = remaining.popleft()
        if word in {"-c", "--listen", "--connect", "--log-to"} and remaining:
            value = remaining.popleft()
            commands += [value] if word == "-c" else []
        elif word == "-m" and remaining:
            program = ["-m", remaining.popleft()]
        elif word == "--pid" and remaining:
            return Correction(reason, (("attach", remaining.popleft()),))
        elif not word.startswith("-"):
            program = [word]
    program += [*remaining, *behind]
    if not program:
        return Correction(reason, (("start", "PROGRAM"),))
    places = [match[1] for one in commands if (match := BREAK_COMMAND.match(one))]
    places = [f"{program[0]}:{one}" if one.isdecimal() else one for one in places]
    if commands and not places and all(one in {"c", "continue", "cont"} for one in commands):
        return Correction(reason, (("crash", "--", "python3", *program),))
    options = [word for place in places for word in ("--break", place)]
    return Correction(reason, (start_words(program, options),))


def _correct_node(words: Sequence[str], behind: Sequence[str]) -> Correction | None:
    reason = "node's command line, in the words of this debugger"
    names = [one for one in words if not one.startswith("--inspect")]
    if names[:1] in (["inspect"], ["debug"]):
        names = names[1:]
    while names and re.match(r"--(?:port|preserve|probe-)[\w-]*(?:=|\Z)", names[0]):
        names = names[1:]
    if names[:1] in (["-p"], ["--pid"]) and names[1:]:
        return Correction(reason, (("attach", names[1]),))
    if names and _ADDRESS.match(names[0]):
        return Correction(reason, (("attach", "--connect", names[0]),))
    if names[:1] == ["--test"]:
        return Correction(reason, (("test", "--", "node", *names, *behind),))
    if not names or names[0].startswith("-"):
        return None
    return Correction(reason, (start_words([*names, *behind]),))
