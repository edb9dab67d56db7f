"""Parses the command line of a target as typed: `python3 -m shop --day 3`."""

from __future__ import annotations

import difflib
import os.path
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.go_test_words import GO_FLAGS, split_go_test, with_go_flags
from debugger.model.location import near_files
from debugger.sources.project_files import TESTS
from debugger.symbols.program_file import JAVA_BUILD_TOOLS
from debugger.system.node_options import NODE_CODE, with_preloaded

_OPERATORS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "<<", "2>&1", "&>", "2>", "|&"})
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*t?\Z")
_NODE = frozenset({"node", "nodejs"})
_RUBY = re.compile(r"(?:j|truffle)?ruby[0-9.]*\Z")
_PHP = re.compile(r"php[0-9.]*\Z")
_BUNDLE = re.compile(r"bundle[0-9.]*\Z")
# Ruby's options with a value, which may be a word of its own.
_RUBY_VALUED = ("-I", "-r", "-E", "-W")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh"})
_WRAPPERS = frozenset(
    {"sudo", "timeout", "nohup", "nice", "time", "xargs", "strace", "gdb", "lldb", "valgrind"}
)
_SCRIPTS = (".py", ".pyw", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".go")
# What the interpreter's own options are in its environment, which its child processes get, too.
_PYTHON_OPTIONS: Mapping[str, tuple[str, str]] = {
    "-u": ("PYTHONUNBUFFERED", "1"),
    "-B": ("PYTHONDONTWRITEBYTECODE", "1"),
    "-O": ("PYTHONOPTIMIZE", "1"),
    "-OO": ("PYTHONOPTIMIZE", "2"),
    "-s": ("PYTHONNOUSERSITE", "1"),
    "-v": ("PYTHONVERBOSE", "1"),
    "-d": ("PYTHONDEBUG", "1"),
    "-Xdev": ("PYTHONDEVMODE", "1"),
    "-Xutf8": ("PYTHONUTF8", "1"),
    "-Xfaulthandler": ("PYTHONFAULTHANDLER", "1"),
    "-Xtracemalloc": ("PYTHONTRACEMALLOC", "1"),
}
_FILES = (".rb", ".php", ".java", ".jar", ".class", ".kt")
_LONGEST_WORD = 60  # characters of a word in an error
_NEAR = 0.8
# What runs a command in a project's own virtual environment: `uv run pytest`.
_MANAGERS = frozenset({"uv", "poetry", "pipenv", "pdm", "rye"})
_MANAGER_SWITCHES = frozenset(
    {
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "--no-sync",
        "--frozen",
        "--locked",
        "--active",
        "--offline",
    }
)
_VENVS = tuple(os.path.join(*[".."] * level, ".venv") for level in range(5))
_PYTHON_OF = {
    "poetry": "the one that `poetry env info --executable` names",
    "pipenv": "the one that `pipenv --py` names",
}
# What stands before the command in the hints, where more than the verb does.
_QUESTION_USAGE = {
    "probe": "probe --at FILE:LINE 'EXPR, EXPR'",
    "calls": "calls FUNCTION",
    "who-wrote": "who-wrote EXPR --at FILE:LINE",
    "why": "why EXPR --at LOC",
    "holds": "holds EXPR --at LOC",
}


class TargetCommand(Struct, frozen=True):
    """A parsed command: a program, or a Python module; `env` are extra variables for it."""

    program: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    # The interpreter that the command named.
    python: str | None = None
    # The interpreter's own command line, for a request to debug it instead of its script.
    interpreter: tuple[str, ...] = ()


class CommandLookup(Protocol):
    """The machine's answers that the parser needs."""

    def find_command(self, name: str) -> str | None:
        """Return the file of a command, on the PATH or by its path; None if there is none."""

    def first_line(self, path: str) -> str:
        """Return the first line of a text file, else nothing."""

    def similar_names(self, name: str) -> Sequence[str]:
        """Return the names of commands and files similar to a name."""

    def is_there(self, path: str) -> bool:
        """Return whether a file or directory exists."""

    def path_folders(self) -> Sequence[str]:
        """Return the folders of the PATH."""

    def has_own_adapter(self, name: str) -> bool:
        """Return whether an adapter of the user's own is for files of such a name."""

    def store_code(self, text: str, name: str) -> str:
        """Write code of a command line to a file of a name; return its path."""

    def python_path(self) -> str:
        """Return PYTHONPATH with the caller's directory first, which `python -c` imports from."""

    def go_flags(self) -> str:
        """Return the caller's GOFLAGS, to which those of a command are added."""


def parse_command(words: Sequence[str], lookup: CommandLookup, *, verb: str) -> TargetCommand:
    """Parse a command line into a program; `verb` is our own command, for the hints.

    Raises:
        DebuggerError: USAGE for an empty one, for shell syntax and for a hidden program;
        LAUNCH_FAILED for a missing program, naming near ones.
    """
    verb = _QUESTION_USAGE.get(verb, verb)
    example = _suggested_command(verb, "./program ARGUMENTS")
    if not words or not words[0].strip():
        raise DebuggerError(ErrorCode.USAGE, "which command?", hint=example)
    _check_no_shell(words, lookup, verb)
    env, remaining = _take_assignments(words, verb)
    if not remaining:
        raise DebuggerError(
            ErrorCode.USAGE, "which command? only variables were given", hint=example
        )
    command = _parse_program(remaining, lookup, verb)
    return TargetCommand(
        command.program,
        command.module,
        command.args,
        (*env, *with_go_flags(command.env, dict(env).get(GO_FLAGS, lookup.go_flags()))),
        command.python,
        command.interpreter,
    )


def _suggested_command(verb: str, words: str) -> str:
    """Return our command line with other words; a comparing command takes two commands."""
    return f"debugger {verb} -- {words}{' --vs CMD' if verb == 'diff' else ''}"


def is_managed(program: str | None, args: Sequence[str]) -> bool:
    """Return whether a command is `uv run CMD` or similar, whose CMD is run directly."""
    return program in _MANAGERS and list(args[:1]) == ["run"]


def _check_no_shell(words: Sequence[str], lookup: CommandLookup, verb: str) -> None:
    first, *rest = words
    within = [] if lookup.is_there(first) else first.split()
    operator = next((one for one in [*within, *rest] if one in _OPERATORS), None)
    if operator is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{operator!r} is for a shell, and there is none here",
            hint=f"debugger {verb} --stdin FILE -- PROGRAM; "
            "debugger start PROGRAM -- ARGS takes any argument",
        )
    if " " in first.strip() and not lookup.is_there(first):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{_shorten_word(first)!r} is one word: no shell splits it",
            hint=_suggested_command(verb, _shorten_word(first)),
        )


def _shorten_word(word: str) -> str:
    return word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD - 1] + "…"


def _take_assignments(words: Sequence[str], verb: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Split `K=V` and `env K=V` off the beginning."""
    remaining = list(words)
    if os.path.basename(remaining[0]) == "env" and len(remaining) > 1:
        remaining.pop(0)
        if remaining[0].startswith("-"):
            raise DebuggerError(
                ErrorCode.USAGE,
                f"env {remaining[0]} is not known here",
                hint=f"debugger {verb} --env NAME=VALUE -- PROGRAM",
            )
    found = []
    while remaining and _ASSIGNED.match(remaining[0]):
        name, _, value = remaining.pop(0).partition("=")
        found.append((name, value))
    return found, remaining


def _parse_program(words: Sequence[str], lookup: CommandLookup, verb: str) -> TargetCommand:
    name, *rest = words
    base = os.path.basename(name)
    parse = _find_interpreter_parser(base)
    runs_by_adapter = bool(rest) and lookup.has_own_adapter(rest[0])
    if parse is not None and not (base in _SHELLS and runs_by_adapter):
        return parse(_require_file(name, lookup, verb), rest, lookup, verb)
    if _BUNDLE.match(base) and rest[:1] == ["exec"]:
        return _parse_bundled(_require_file(name, lookup, verb), rest, lookup, verb)
    if base == "go" and rest[:1] in (["run"], ["test"]):
        return _go_run(rest[1:], verb) if rest[0] == "run" else _go_test(rest[1:], lookup, verb)
    if base in _MANAGERS and rest[:1] == ["run"]:
        return _parse_managed(base, rest[1:], lookup, verb)
    if runs_by_adapter and not lookup.has_own_adapter(name):
        # `lua x.lua`, `dotnet x.dll`, `bash x.sh`: the adapter itself runs the file.
        script = _require_file(rest[0], lookup, verb, before=f"{name} ")
        return TargetCommand(script, args=tuple(rest[1:]))
    if base in _WRAPPERS:
        raise _refuse_hidden(f"what {base} starts", verb)
    path = _require_file(name, lookup, verb)
    return _parse_script(path, rest, lookup)


def _find_interpreter_parser(
    base: str,
) -> Callable[[str, Sequence[str], CommandLookup, str], TargetCommand] | None:
    if _PYTHON.match(base):
        return _parse_python
    if base in _NODE:
        return _parse_node
    if base in _SHELLS:
        return _parse_shell
    if _PHP.match(base):
        return _parse_php
    return _parse_ruby if _RUBY.match(base) else None


def _refuse_hidden(kind: str, verb: str) -> DebuggerError:
    way = f"{_suggested_command(verb, 'PROGRAM ARGUMENTS')}, the program itself"
    return DebuggerError(ErrorCode.USAGE, f"{kind} cannot be read here", hint=way)


def _parse_shell(
    shell: str, words: Sequence[str], lookup: CommandLookup, verb: str
) -> TargetCommand:
    if not words or words[0].startswith("-"):
        raise _refuse_hidden("a shell", verb)
    script = _require_file(words[0], lookup, verb, before=f"{os.path.basename(shell)} ")
    return TargetCommand(shell, args=(script, *words[1:]))


def _require_file(name: str, lookup: CommandLookup, verb: str, *, before: str = "") -> str:
    # What an interpreter is given is a file, never a command on the PATH.
    path = lookup.find_command(os.path.join(".", name) if before else name)
    if path is not None:
        return path
    if before:
        near = near_files(os.path.basename(name), lookup.similar_names(os.path.join(".", name)))
    else:
        # Of the many commands on a PATH one always looks a little alike.
        near_names = lookup.similar_names(os.path.join(".", name))
        near = near_files(os.path.basename(name), near_names)
        near = near or _very_near(os.path.basename(name), lookup.similar_names(name))
    suggestion = os.path.join(os.path.dirname(name), near[0]) if near else ""
    kind = "file" if before or name.endswith((*_SCRIPTS, *_FILES)) else "command"
    there = f"; there is {', '.join(near[:3])}" if near else ""
    example = before + (suggestion or ("SCRIPT" if before else "./program ARGUMENTS"))
    raise DebuggerError(
        ErrorCode.LAUNCH_FAILED,
        f"no such {kind}: {_shorten_word(name)}{there}",
        hint=_suggested_command(verb, example),
    )


def _parse_managed(
    manager: str, words: Sequence[str], lookup: CommandLookup, verb: str
) -> TargetCommand:
    """Parse `uv run CMD` and similar, for the project's own environment."""
    remaining = list(words)
    while remaining and remaining[0] in _MANAGER_SWITCHES:
        remaining.pop(0)
    remaining = remaining[1:] if remaining[:1] == ["--"] else remaining
    if not remaining or remaining[0].startswith("-"):
        option = remaining[0] if remaining else ""
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{manager} run {option}: not known here".replace(" :", ":"),
            hint=_suggested_command(verb, f"{manager} run PROGRAM ARGUMENTS"),
        )
    folder = next((one for one in _VENVS if lookup.is_there(os.path.join(one, "pyvenv.cfg"))), None)
    python = (
        lookup.find_command(os.path.join(folder, "bin", "python")) if folder is not None else None
    )
    if folder is None or python is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"where {manager} has the environment is not known here: no .venv beside the project",
            hint=f"{_suggested_command(verb, 'PYTHON SCRIPT')}, "
            f"with {_PYTHON_OF.get(manager, 'its python')}",
        )
    name, *args = remaining
    if name.endswith((".py", ".pyw")):
        name, args = python, [name, *args]
    own = lookup.find_command(os.path.join(folder, "bin", name)) if "/" not in name else None
    inner = _parse_program([own or name, *args], lookup, verb)
    environment = os.path.dirname(os.path.dirname(python))
    path = os.pathsep.join([os.path.dirname(python), *lookup.path_folders()])
    env = (("VIRTUAL_ENV", environment), ("PATH", path), *inner.env)
    is_python = own is not None and inner.interpreter and inner.python is None
    return structs.replace(inner, env=env, python=python if is_python else inner.python)


def _very_near(name: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(difflib.get_close_matches(name, list(dict.fromkeys(names)), n=3, cutoff=_NEAR))


def _parse_script(path: str, args: Sequence[str], lookup: CommandLookup) -> TargetCommand:
    """Parse a program file: a script of Python or of a shell runs with what its #! line names."""
    plain = TargetCommand(program=path, args=tuple(args))
    if path.endswith(_SCRIPTS) and not path.endswith((".py", ".pyw")):
        return plain
    line = lookup.first_line(path)
    if not line.startswith("#!"):
        return plain
    words = line[2:].split()
    if words and os.path.basename(words[0]) == "env":
        words = [one for one in words[1:] if not one.startswith("-")]
    base = os.path.basename(words[0]) if words else ""
    # A build tool is known by its own name, and a script that has an adapter by its file's.
    is_known = os.path.basename(path) in JAVA_BUILD_TOOLS or lookup.has_own_adapter(path)
    shell = lookup.find_command(words[0]) if base in _SHELLS and not is_known else None
    if shell is not None:
        return TargetCommand(program=shell, args=(*words[1:], path, *args))
    if not _PYTHON.match(base):
        return plain
    python = lookup.find_command(words[0])
    if python is None:
        return plain
    return TargetCommand(
        program=path,
        args=tuple(args),
        # A script of a virtual environment names its own interpreter; `env python3` names none.
        python=python if os.path.isabs(words[0]) else None,
        interpreter=(python, path, *args),
    )


def _parse_python(
    python: str, words: Sequence[str], lookup: CommandLookup, verb: str
) -> TargetCommand:
    remaining = list(words)
    env: list[tuple[str, str]] = []
    while remaining and remaining[0].startswith("-") and remaining[0] not in {"-", "--"}:
        option = remaining.pop(0)
        if option == "-m" and remaining:
            module, *args = remaining
            return TargetCommand(
                module=module,
                args=tuple(args),
                env=tuple(env),
                python=python,
                interpreter=(python, *words),
            )
        if option == "-c" and remaining:
            code, *args = remaining
            return TargetCommand(
                program=lookup.store_code(code, "python-c.py"),
                args=tuple(args),
                env=(*env, ("PYTHONPATH", lookup.python_path())),
                python=python,
            )
        if option in {"-X", "-W"} and remaining:
            option += remaining.pop(0)
        if option.startswith("-W"):
            env.append(("PYTHONWARNINGS", option[2:]))
        elif option in _PYTHON_OPTIONS:
            env.append(_PYTHON_OPTIONS[option])
        else:
            raise _not_an_option("python", option, verb, "python3 SCRIPT, or python3 -m MODULE")
    if not remaining or remaining[0] in {"-", "--"}:
        raise DebuggerError(
            ErrorCode.USAGE,
            "python without a script reads one from a terminal",
            hint=_suggested_command(verb, "python3 SCRIPT"),
        )
    script, *args = remaining
    return TargetCommand(
        program=_require_file(script, lookup, verb, before="python3 "),
        args=tuple(args),
        env=tuple(env),
        python=python,
        interpreter=(python, *words),
    )


def _not_an_option(which: str, option: str, verb: str, instead: str) -> DebuggerError:
    first, comma, other = instead.partition(",")
    is_code = option in {"-c", "-e", "-p", "-pe", "--eval", "--print"}
    what = "code on a command line has no source" if is_code else "not known"
    return DebuggerError(
        ErrorCode.USAGE,
        f"{which} {option}: {what} here",
        hint=_suggested_command(verb, first) + comma + other,
    )


def _quote_node_option(option: str) -> str:
    """Quote an option for NODE_OPTIONS; an option with a separate value has two words."""
    if " " not in option or not option.startswith("--") or "=" not in option.partition(" ")[0]:
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# A result is printed only where the code is; of an ES module a script is needed.
_NODE_INSTEAD = {
    "-p": "node -e 'console.log(CODE)'",
    "--print": "node -e 'console.log(CODE)'",
    "-pe": "node -e 'console.log(CODE)'",
}


def _parse_node(node: str, words: Sequence[str], lookup: CommandLookup, verb: str) -> TargetCommand:
    words = _without_test_runner(words)
    remaining = list(words)
    options: list[str] = []
    while remaining and remaining[0].startswith("-"):
        option = remaining.pop(0)
        if (
            option in {"-r", "--require", "--import", "--loader", "-C", "--conditions"}
            and remaining
        ):
            option += f" {remaining.pop(0)}"
        elif option in {"-e", "--eval"} and remaining and not _is_module(options):
            code, *args = remaining
            args = args[1:] if args[:1] == ["--"] else args
            return _node_code(lookup.store_code(code, "node-e.cjs"), args, options)
        elif option in {"-e", "-p", "-pe", "--eval", "--print", "--test", "-i", "-"}:
            raise _not_an_option("node", option, verb, _NODE_INSTEAD.get(option, "node SCRIPT"))
        options.append(option)
    if not remaining:
        raise DebuggerError(
            ErrorCode.USAGE,
            "node without a script reads one from a terminal",
            hint=_suggested_command(verb, "node SCRIPT"),
        )
    script, *args = remaining
    env = [("NODE_OPTIONS", " ".join(map(_quote_node_option, options)))] if options else []
    return TargetCommand(
        program=_require_file(script, lookup, verb, before="node "),
        args=tuple(args),
        env=tuple(env),
        interpreter=(node, *words),
    )


def _without_test_runner(words: Sequence[str]) -> Sequence[str]:
    """Return the words of `node --test FILE` as those of `node FILE`, which runs the same tests.

    Node's runner starts a process for each of several files.
    """
    files = [one for one in words if not one.startswith("-")]
    is_one = len(files) == 1 and words[-1] == files[0]
    return [one for one in words if one != "--test"] if is_one else words


def _is_module(options: Sequence[str]) -> bool:
    """Return whether code is an ES module, whose imports are found from its own file alone."""
    return any(one.startswith("--input-type") and one.endswith("module") for one in options)


def _node_code(program: str, args: Sequence[str], options: Sequence[str]) -> TargetCommand:
    preloaded = with_preloaded(str(NODE_CODE), " ".join(map(_quote_node_option, options)))
    env = (("NODE_OPTIONS", preloaded), ("DEBUGGER_NODE_CODE", program))
    return TargetCommand(program=program, args=tuple(args), env=env)


def _go_run(words: Sequence[str], verb: str) -> TargetCommand:
    remaining = list(words)
    if not remaining or remaining[0].startswith("-"):
        raise DebuggerError(
            ErrorCode.USAGE,
            "expected a package after go run; its own options are not supported",
            hint=f"{_suggested_command(verb, 'go run PACKAGE')}, or FILE.go",
        )
    program, *args = remaining
    return TargetCommand(program=program, args=tuple(args))


def _go_test(words: Sequence[str], lookup: CommandLookup, verb: str) -> TargetCommand:
    """Parse `go test ./package -run X`: the tests of one package are one program."""
    package, build, args = split_go_test(words)
    names = sorted(lookup.similar_names(os.path.join(package, TESTS)))
    tests = [one for one in names if one.endswith(TESTS)]
    if not tests:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{package} is no folder with tests of Go: those of one package are one program",
            hint=_suggested_command(verb, "go test ./PACKAGE"),
        )
    env = ((GO_FLAGS, " ".join(build)),) if build else ()
    return TargetCommand(program=os.path.join(package, tests[0]), args=tuple(args), env=env)


def _parse_ruby(ruby: str, words: Sequence[str], lookup: CommandLookup, verb: str) -> TargetCommand:
    """Parse `ruby -Ilib script.rb`: its options go into RUBYOPT, which child processes get, too."""
    remaining = list(words)
    options: list[str] = []
    code: list[str] = []
    while remaining and remaining[0].startswith("-") and remaining[0] != "--":
        option = remaining.pop(0)
        if option == "-e" and remaining:
            code.append(remaining.pop(0))
            continue
        if option in _RUBY_VALUED[:3] and remaining:
            option += remaining.pop(0)
        elif option == "-S" and remaining:
            program = _require_file(remaining[0], lookup, verb)
            return _ruby_command(ruby, program, remaining[1:], options, words)
        elif not option.startswith((*_RUBY_VALUED, "-w", "-d", "--enable", "--disable", "--yjit")):
            raise _not_an_option("ruby", option, verb, "ruby SCRIPT.rb")
        options.append(option)
    remaining = remaining[1:] if remaining[:1] == ["--"] else remaining
    if code:
        program = lookup.store_code("\n".join(code), "ruby-e.rb")
        return _ruby_command(ruby, program, remaining, options, ())
    if not remaining:
        raise DebuggerError(
            ErrorCode.USAGE,
            "ruby without a script reads one from its input",
            hint=_suggested_command(verb, "ruby SCRIPT.rb"),
        )
    program = _require_file(remaining[0], lookup, verb, before="ruby ")
    return _ruby_command(ruby, program, remaining[1:], options, words)


def _ruby_command(
    ruby: str, program: str, args: Sequence[str], options: Sequence[str], words: Sequence[str]
) -> TargetCommand:
    env = [("RUBY", ruby)]  # by which Ruby's own tools choose an interpreter
    if options:
        env.append(("RUBYOPT", " ".join(options)))
    return TargetCommand(
        program=program, args=tuple(args), env=tuple(env), interpreter=(ruby, *words)
    )


def _parse_php(php: str, words: Sequence[str], lookup: CommandLookup, verb: str) -> TargetCommand:
    """Parse `php script.php` and `php -S HOST:PORT router.php`."""
    remaining = list(words)
    env: list[tuple[str, str]] = []
    while remaining and remaining[0].startswith("-") and remaining[0] not in {"-f", "--"}:
        option = remaining.pop(0)
        if option == "-r" and remaining:
            code = lookup.store_code(f"<?php {remaining[0]}", "php-r.php")
            return TargetCommand(program=code, args=tuple(remaining[1:]))
        if option != "-S" or not remaining:
            raise _not_an_option("php", option, verb, "php SCRIPT.php")
        env.append(("DEBUGGER_PHP_SERVER", remaining.pop(0)))
    remaining = remaining[1:] if remaining[:1] in (["-f"], ["--"]) else remaining
    if not remaining:
        raise DebuggerError(
            ErrorCode.USAGE,
            "php -S needs a script here, which answers each request" if env else "which script?",
            hint=_suggested_command(verb, f"php {'-S localhost:8000 ' * bool(env)}SCRIPT.php"),
        )
    return TargetCommand(
        program=_require_file(remaining[0], lookup, verb, before="php "),
        args=tuple(remaining[1:]),
        env=tuple(env),
        interpreter=(php, *words),
    )


def _parse_bundled(
    bundle: str, words: Sequence[str], lookup: CommandLookup, verb: str
) -> TargetCommand:
    """Parse `bundle exec COMMAND`: Bundler loads a command in Ruby into its own process."""
    if len(words) > 1 and _RUBY.match(os.path.basename(words[1])):
        # Of Ruby itself Bundler would make another process.
        inner = _parse_ruby(_require_file(words[1], lookup, verb), words[2:], lookup, verb)
        options = " ".join(["-rbundler/setup", *(v for k, v in inner.env if k == "RUBYOPT")])
        env = (*(pair for pair in inner.env if pair[0] != "RUBYOPT"), ("RUBYOPT", options))
        return structs.replace(inner, env=env)
    if not words[1:]:
        raise DebuggerError(
            ErrorCode.USAGE,
            "bundle exec: which command?",
            hint=_suggested_command(verb, "bundle exec rake test"),
        )
    return TargetCommand(program=bundle, args=tuple(words))
