"""A typed command line is parsed, and one that hides its program is refused."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.command_line import TargetCommand, parse_command


@dataclass
class Fake:
    """A machine with these files, by what they are called on it."""

    files: dict[str, str] = field(
        default_factory=lambda: {
            "python3": "/usr/bin/python3",
            "node": "/usr/bin/node",
            "ls": "/bin/ls",
            "pytest": "/venv/bin/pytest",
            "tool": "/usr/bin/tool",
            "sh": "/bin/sh",
            "./run.sh": "/here/run.sh",
            "/venv/bin/python": "/venv/bin/python",
            "./script.py": "/here/script.py",
            "./x.js": "/here/x.js",
            "./prog": "/here/prog",
            "dotnet": "/usr/bin/dotnet",
            "ruby": "/usr/bin/ruby",
            "php": "/usr/bin/php",
            "./app.dll": "/here/app.dll",
        }
    )
    shebangs: dict[str, str] = field(
        default_factory=lambda: {
            "/venv/bin/pytest": "#!/venv/bin/python",
            "/usr/bin/tool": "#!/usr/bin/env -S python3",
            "/here/run.sh": "#!/usr/bin/env sh",
        }
    )

    def find_command(self, name: str) -> str | None:
        return self.files.get(name)

    def first_line(self, path: str) -> str:
        return self.shebangs.get(path, "")

    def similar_names(self, name: str) -> Sequence[str]:
        if name.startswith("./rules/"):
            return ["rules.go", "zone_test.go", "area_test.go"]
        return ["prog", "script.py", "x.js"]

    def is_there(self, path: str) -> bool:
        return path in self.files

    def path_folders(self) -> Sequence[str]:
        return ["/bin"]

    def has_own_adapter(self, name: str) -> bool:
        return name.endswith(".dll")

    def store_code(self, text: str, name: str) -> str:
        return f"/code/{len(text)}/{name}"

    def python_path(self) -> str:
        return "/here:/lib"

    def go_flags(self) -> str:
        return "-tags=old"


def parse_words(*words: str) -> TargetCommand:
    return parse_command(words, Fake(), verb="crash")


def test_a_program_gets_its_arguments() -> None:
    assert parse_words("./prog", "-x", "a b") == TargetCommand(
        program="/here/prog", args=("-x", "a b")
    )


@pytest.mark.parametrize("words", [("./run.sh", "-x"), ("sh", "run.sh", "-x")])
def test_a_script_of_a_shell_runs_with_the_shell(words: tuple[str, ...]) -> None:
    assert parse_words(*words) == TargetCommand(program="/bin/sh", args=("/here/run.sh", "-x"))


def test_the_file_of_an_own_adapter_is_the_program() -> None:
    expected = TargetCommand(program="/here/app.dll", args=("-x",))
    assert parse_words("dotnet", "app.dll", "-x") == expected
    assert parse_words("./app.dll", "-x") == expected
    assert parse_words("dotnet", "build").program == "/usr/bin/dotnet"


def test_code_on_a_command_line_is_a_program_in_a_file() -> None:
    python = parse_words("python3", "-u", "-c", "import app", "-x")
    assert (python.program, python.args) == ("/code/10/python-c.py", ("-x",))
    assert python.python == "/usr/bin/python3"
    assert python.env == (("PYTHONUNBUFFERED", "1"), ("PYTHONPATH", "/here:/lib"))
    node = parse_words("node", "--no-warnings", "-e", "f()", "--", "-x")
    assert (node.program, node.args) == ("/code/3/node-e.cjs", ("-x",))
    options, code = node.env
    assert options[1].startswith("--require ")
    assert options[1].endswith("--no-warnings")
    assert code == ("DEBUGGER_NODE_CODE", "/code/3/node-e.cjs")
    ruby = parse_words("ruby", "-e", "a = 1", "-w", "-e", "p a", "x")
    assert (ruby.program, ruby.args) == ("/code/9/ruby-e.rb", ("x",))
    php = parse_words("php", "-r", "f();", "x")
    assert (php.program, php.args) == ("/code/10/php-r.php", ("x",))


def test_a_bare_name_is_looked_for_on_the_path() -> None:
    assert parse_words("ls", "-l").program == "/bin/ls"


def test_a_script_of_an_interpreter_is_the_program() -> None:
    command = parse_words("python3", "script.py", "--fast")
    assert (command.program, command.args) == ("/here/script.py", ("--fast",))
    assert command.python == "/usr/bin/python3"
    assert command.interpreter == ("/usr/bin/python3", "script.py", "--fast")


def test_a_module_is_one() -> None:
    command = parse_words("python3", "-m", "shop", "-v")
    assert (command.program, command.module, command.args) == (None, "shop", ("-v",))


def test_the_interpreters_own_options_become_its_environment() -> None:
    command = parse_words("python3", "-u", "-X", "dev", "-Werror", "script.py")
    assert command.env == (
        ("PYTHONUNBUFFERED", "1"),
        ("PYTHONDEVMODE", "1"),
        ("PYTHONWARNINGS", "error"),
    )
    command = parse_words("node", "--require", "./a.js", "--enable-source-maps", "x.js")
    assert command.env == (("NODE_OPTIONS", "--require ./a.js --enable-source-maps"),)


def test_a_shebang_names_the_interpreter() -> None:
    command = parse_words("pytest", "-k", "one")
    assert (command.program, command.python) == ("/venv/bin/pytest", "/venv/bin/python")
    # `env python3` is whatever the caller's is: nothing is said of it.
    assert parse_words("tool").python is None


def test_variables_may_stand_before_the_program() -> None:
    for words in (("A=1", "B=x=y", "./prog"), ("env", "A=1", "B=x=y", "./prog")):
        command = parse_words(*words)
        assert command.program == "/here/prog"
        assert command.env == (("A", "1"), ("B", "x=y"))


def test_node_runs_the_tests_of_one_file_without_its_runner() -> None:
    command = parse_words("node", "--no-warnings", "--test", "x.js")
    assert (command.program, command.env) == (
        "/here/x.js",
        (("NODE_OPTIONS", "--no-warnings"),),
    )


def test_go_run_runs_what_it_names() -> None:
    assert parse_words("go", "run", "./cmd/shop", "-v") == TargetCommand(
        program="./cmd/shop", args=("-v",)
    )


def test_go_test_is_the_program_of_one_packages_tests() -> None:
    assert parse_words("go", "test", "-race", "./rules", "-run", "TestA") == TargetCommand(
        program="./rules/area_test.go",
        args=("-run", "TestA"),
        env=(("GOFLAGS", "-tags=old -race"),),
    )
    typed = parse_words("GOFLAGS=-mod=vendor", "go", "test", "-race", "./rules")
    assert dict(typed.env)["GOFLAGS"] == "-mod=vendor -race"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "which command?"),
        (["  "], "which command?"),
        (["A=1"], "only variables"),
        (["./prog", "|", "wc"], "'|' is for a shell"),
        (["./prog", ">", "out"], "'>' is for a shell"),
        (["./prog a; ls"], "is one word"),
        (["./prog && ls"], "'&&' is for a shell"),
        (["sh", "-c", "./prog"], "a shell cannot"),
        (["timeout", "5", "./prog"], "what timeout starts"),
        (["env", "-i", "./prog"], "env -i"),
        (["python3"], "reads one from a terminal"),
        (["python3", "-"], "reads one from a terminal"),
        (["python3", "-c"], "python -c"),
        (["python3", "-Q", "script.py"], "python -Q"),
        (["node"], "reads one from a terminal"),
        (["node", "--test"], "node --test"),
        (["node", "--test", "x.js", "y.js"], "node --test"),
        (["node", "-p", "f()"], "node -p: code on a command line"),
        (["node", "--input-type=module", "-e", "f()"], "node -e: code on a command line"),
        (["go", "run", "-race", "."], "expected a package after go run"),
        (["go", "test", "./..."], "./... is no folder with tests of Go"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(words: list[str], says: str) -> None:
    with pytest.raises(DebuggerError) as caught:
        parse_words(*words)
    assert caught.value.code is ErrorCode.USAGE
    assert says in caught.value.message
    assert (caught.value.hint or "").startswith("debugger crash")


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        (["./prgo"], "there is prog", "debugger crash -- ./prog"),
        (["nothing-like-it"], "no such command", "debugger crash -- ./program ARGUMENTS"),
        (["nothing-like-it.rb"], "no such file", "debugger crash -- ./program ARGUMENTS"),
        (["python3", "scrip.py"], "there is script.py", "debugger crash -- python3 script.py"),
    ],
)
def test_a_command_that_is_not_there_is_named_with_near_ones(
    words: list[str], says: str, hint: str
) -> None:
    with pytest.raises(DebuggerError) as caught:
        parse_words(*words)
    assert caught.value.code is ErrorCode.LAUNCH_FAILED
    assert says in caught.value.message
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (("uv", "run", "script.py", "-x"), "script.py"),
        (("uv", "run", "--frozen", "python", "script.py"), "script.py"),
        (("poetry", "run", "pytest"), "../.venv/bin/pytest"),
    ],
)
def test_what_a_projects_manager_runs_is_run_in_the_projects_environment(
    words: tuple[str, ...], program: str
) -> None:
    fake = Fake()
    venv = "/project/.venv/bin"
    fake.files |= {
        "../.venv/pyvenv.cfg": "/project/.venv/pyvenv.cfg",
        "../.venv/bin/python": f"{venv}/python",
        "../.venv/bin/pytest": f"{venv}/pytest",
        f"{venv}/python": f"{venv}/python",
        f"{venv}/pytest": f"{venv}/pytest",
    }
    fake.shebangs[f"{venv}/pytest"] = f"#!{venv}/python"
    found = parse_command(words, fake, verb="crash")
    assert found.python == f"{venv}/python"
    assert dict(found.env) == {"VIRTUAL_ENV": "/project/.venv", "PATH": f"{venv}:/bin"}
    assert os.path.basename(str(found.program)) == os.path.basename(program)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("poetry", "run", "pytest"), "poetry env info --executable"),
        (("uv", "run", "--with", "x", "./script.py"), "uv run PROGRAM"),
    ],
)
def test_a_manager_whose_environment_is_not_known_is_refused_with_another_way(
    words: tuple[str, ...], hint: str
) -> None:
    with pytest.raises(DebuggerError) as raised:
        parse_command(words, Fake(), verb="crash")
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize("words", [("pinentri",), ("python3", "nope.py"), ("zscript.js",)])
def test_a_name_that_only_looks_a_little_alike_is_not_offered(words: tuple[str, ...]) -> None:
    fake = Fake()
    fake.similar_names = lambda name: (  # type: ignore[method-assign]
        ["p3.py", "jp.py"] if "/" in name else ["poetry", "pyenv", "jp.py"]
    )
    with pytest.raises(DebuggerError) as raised:
        parse_command(words, fake, verb="crash")
    assert "there is" not in raised.value.message
