"""A configuration of launch.json is what the command line would have started."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.launch_json import launch_file
from debugger.targets.launch_json.configuration_variables import (
    VariableValues,
    parse_env_file,
    placeholder_text,
    replace_variables,
)
from debugger.targets.launch_json.json_with_comments import (
    JsonSyntaxError,
    parse_json_with_comments,
)
from debugger.targets.launch_json.launch_configuration import (
    TYPES,
    AttachConfiguration,
    LaunchConfiguration,
)
from debugger.targets.launch_json.launch_file import (
    configuration_names,
    find_launch_file,
    select_configuration,
)
from debugger.targets.launch_json.named_configuration import (
    Configuration,
    command_text,
    find_compound,
    list_rows,
    names_present_file,
    resolve_configuration,
)

PICKED = {"args": "${command:pickArgs}"}
ENV = {"HOME": "/home/me", "PORT": "8080"}


class Project:
    """A folder with a launch.json."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".vscode").mkdir()

    def write(
        self, *configurations: dict[str, Any], name: str = "launch.json", **more: Any
    ) -> None:
        """Write the configurations, named C0, C1, … where they have no name."""
        named = [{"name": f"C{at}", **one} for at, one in enumerate(configurations)]
        content = {"version": "0.2.0", "configurations": named, **more}
        (self.folder / ".vscode" / name).write_text(json.dumps(content))

    def resolve(self, name: str = "C0", file: str | None = None) -> Configuration:
        """Resolve a configuration."""
        found = find_launch_file(str(self.folder))
        return resolve_configuration(found, name, self.values(file))

    def values(self, file: str | None = None) -> VariableValues:
        """Return the values of the variables."""
        return VariableValues(folder=str(self.folder), cwd=str(self.folder), env=ENV, file=file)

    def launch(self, **given: Any) -> LaunchConfiguration:
        """Resolve a launch configuration of these fields."""
        self.write({"type": "debugpy", "request": "launch", **given})
        found = self.resolve(file=str(self.folder / "f.py"))
        assert isinstance(found, LaunchConfiguration)
        return found

    def attach(self, **given: Any) -> AttachConfiguration:
        """Resolve an attach configuration of these fields."""
        self.write({"type": "debugpy", "request": "attach", **given})
        found = self.resolve()
        assert isinstance(found, AttachConfiguration)
        return found

    def refused(self, name: str = "C0") -> DebuggerError:
        """Return the failure of a configuration."""
        with pytest.raises(DebuggerError) as caught:
            self.resolve(name)
        assert caught.value.hint
        return caught.value


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_comments_trailing_commas_and_a_byte_order_mark_are_read():
    text = '\ufeff{ // a "b\n "a": [1, 2,], /* , */ "b//": "/*no*/,]", }'
    assert parse_json_with_comments(text) == {"a": [1, 2], "b//": "/*no*/,]"}


@pytest.mark.parametrize(
    "text",
    [
        *("", "[,]", "{,}", "[1,,]", '{"a":,}', "/* [1]", "NaN", "[-Infinity]"),
        *("[" * 101 + "]" * 101, '"a', "'a'", "9" * 5000, "{}{}", '{"a" 1}', "// only"),
    ],
)
def test_what_is_no_json_is_a_syntax_error(text: str):
    with pytest.raises(JsonSyntaxError):
        parse_json_with_comments(text)


def test_a_syntax_error_names_line_and_column_behind_comments():
    with pytest.raises(JsonSyntaxError, match="line 3, column 6"):
        parse_json_with_comments('{ /* a\n b */ "a": 1, // x\n "b" 2}')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${workspaceFolder}/a", "/w/shop/a"),
        ("${workspaceRoot}", "/w/shop"),
        ("${workspaceFolder:shop}", "/w/shop"),
        ("${workspaceFolder:other}", "${workspaceFolder:other}"),
        ("${workspaceFolderBasename}", "shop"),
        ("${file}", "/w/shop/src/a.b.py"),
        ("${relativeFile}", "src/a.b.py"),
        ("${relativeFileDirname}", "src"),
        ("${fileBasename} ${fileBasenameNoExtension} ${fileExtname}", "a.b.py a.b .py"),
        ("${fileDirname} ${fileDirnameBasename}", "/w/shop/src src"),
        ("${fileWorkspaceFolder}", "/w/shop"),
        ("${userHome}${pathSeparator}x${/}y", "/home/me/x/y"),
        ("${cwd}", "/c"),
        ("${env:PORT}-${env:NONE}-", "8080--"),
        ("${input:a} ${command:b.c} ${config:d} ${HOME} $PORT ${", None),
    ],
)
def test_each_variable_is_replaced_or_stays(text: str, value: str | None):
    known = VariableValues(folder="/w/shop", cwd="/c", env=ENV, file="/w/shop/src/a.b.py")
    assert replace_variables(text, known) == (text if value is None else value)
    assert replace_variables({"a": [text, 1]}, known) == {"a": [value or text, 1]}


def test_without_a_present_file_its_variables_stay():
    known = VariableValues(folder="/w", cwd="/w", env={})
    assert replace_variables("${fileDirname}", known) == "${fileDirname}"


def test_placeholders_are_words_in_capitals():
    assert placeholder_text("${command:cmake.launchTargetPath} ${input:a-b}") == (
        "LAUNCH_TARGET_PATH A_B"
    )


def test_an_env_file_has_quotes_comments_export_and_references():
    lines = (
        *("# comment", "A=1", "export B = two words # behind", "C='${A} # kept'", "E=", "no line"),
        *('D="x\\n\\"${A}\\" ${env:PORT} ${NONE}" # behind', "F=a#b", 'G="open'),
    )
    text = "\n".join(lines)
    assert parse_env_file(text, ENV) == {
        "A": "1",
        "B": "two words",
        "C": "${A} # kept",
        "D": 'x\n"1" 8080 ',
        "E": "",
        "F": "a#b",
        "G": '"open',
    }


def test_python_with_all_that_it_may_have(project: Project):
    (project.folder / "app.py").write_text("")
    found = project.launch(
        program="${workspaceFolder}/app.py",
        args="--port ${env:PORT} 'a b'",
        cwd="${workspaceFolder}/data",
        env={"A": "${workspaceFolderBasename}", "B": True, "C": None, "D": 3},
        envFile="${workspaceFolder}/.env",
        python="${command:python.interpreterPath}",
        console="integratedTerminal",
        justMyCode=False,
        stopOnEntry=True,
        django=True,
        pathMappings=[],
    )
    assert found.program == str(project.folder / "app.py")
    assert found.args == ("--port", "8080", "a b")
    assert found.cwd == str(project.folder / "data")
    assert found.env == (f"A={project.folder.name}", "B=true", "D=3")
    assert found.env_file == str(project.folder / ".env")
    assert found.python is None
    assert found.stop_on_entry
    assert found.notes == (
        "no terminal is opened; debugger input writes to the program",
        "not understood, and left out: pathMappings",
    )


def test_arguments_of_the_caller_make_those_that_an_editor_asks_for_needless(project: Project):
    project.write({"type": "debugpy", "request": "launch", "program": "p"} | PICKED)
    file = find_launch_file(str(project.folder))
    assert "PICK_ARGS" in str(project.refused().hint)
    found = resolve_configuration(file, "C0", project.values(), ["a", "${b}"])
    assert isinstance(found, LaunchConfiguration)
    assert found.args == ("a", "${b}")


def test_numbers_and_truths_are_texts_as_json_writes_them(project: Project):
    assert project.launch(program="p", args=[1, True, "True"]).args == ("1", "true", "True")


def test_interpreters_options_stand_before_the_program(project: Project):
    assert project.launch(module="m", pythonArgs=["-O"]).interpreter == ("python3", "-O")
    assert project.launch(program="a.py", python=["py", "-X", "dev"]).interpreter == (
        *("py", "-X", "dev"),
    )
    node = project.launch(type="node", program="a.js", runtimeArgs=["--import", "tsx"])
    assert node.interpreter == ("node", "--import", "tsx")
    npm = project.launch(type="node", runtimeExecutable="npm", runtimeArgs=["run", "dev"])
    assert (npm.program, npm.interpreter) == (None, ("npm", "run", "dev"))
    own = project.launch(type="node", program="a.js", runtimeExecutable="/opt/node20")
    assert own.interpreter == ()
    assert own.notes == ("the Node of your PATH is taken, not /opt/node20",)
    assert project.launch(program="a.py", python="/my pythons/3").python == "/my pythons/3"
    terminal = project.launch(type="node-terminal", command="npm test")
    assert terminal.interpreter == ("npm", "test")


def test_a_program_runs_in_the_workspace_and_gos_in_its_own_folder(project: Project):
    (project.folder / "cmd").mkdir()
    assert project.launch(program="${file}").cwd == str(project.folder)
    go = project.launch(type="go", mode="auto", program="${workspaceFolder}/cmd")
    assert go.cwd == str(project.folder / "cmd")
    assert project.launch(type="go", program="${workspaceFolder}/cmd/a.go").cwd == go.cwd


def test_the_section_of_the_platform_is_on_top(project: Project, monkeypatch: pytest.MonkeyPatch):
    sections = {
        "linux": {"program": "l", "args": ["1"]},
        "osx": {"program": "o"},
        "windows": {"program": "w"},
    }
    monkeypatch.setattr(sys, "platform", "linux")
    found = project.launch(program="p", args=["0"], **sections)
    assert (found.program, found.args, found.notes) == ("l", ("1",), ())
    monkeypatch.setattr(sys, "platform", "darwin")
    assert project.launch(program="p", args=["0"], **sections).args == ("0",)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"processId": "${env:PORT}"}, "attach 8080"),
        ({"type": "lldb", "pid": 12}, "attach 12"),
        ({"connect": {"port": 5678}}, "attach --connect 127.0.0.1:5678"),
        ({"connect": {"host": "::1", "port": 5678}}, "attach --connect '[::1]:5678'"),
        ({"host": "localhost", "port": 1}, "attach --connect localhost:1"),
        ({"type": "node"}, "attach --connect 127.0.0.1:9229"),
        ({"type": "pwa-node", "port": 9230}, "attach --connect 127.0.0.1:9230"),
        ({"type": "go", "mode": "local", "processId": 5}, "attach 5"),
        ({"type": "lldb", "coreFile": "c", "program": "p"}, "attach --core c p"),
        ({"request": "launch", "coreDumpPath": "c", "program": "p"}, "attach --core c p"),
        (
            {"type": "lldb-dap", "program": "p", "gdb-remote-port": 1234},
            "attach --connect 127.0.0.1:1234 p",
        ),
    ],
)
def test_what_is_attached_to(project: Project, given: dict[str, Any], command: str):
    found = project.attach(**given)
    assert command_text(found, str(project.folder)) == f"debugger {command}"


def test_a_program_behind_a_debug_server_is_attached_to(project: Project):
    project.write(
        {"type": "cppdbg", "request": "launch"}
        | {"program": "${workspaceFolder}/p", "miDebuggerServerAddress": "localhost:1234"}
    )
    found = command_text(project.resolve(), str(project.folder))
    assert found == "debugger attach --connect localhost:1234 p"


@pytest.mark.parametrize("host", ["example.org", "10.0.0.1", "0.0.0.0", "127.0.0.1.evil.org"])
def test_a_file_of_the_project_chooses_no_other_machine(project: Project, host: str):
    project.write({"type": "debugpy", "request": "attach", "connect": {"host": host, "port": 1}})
    error = project.refused()
    assert error.code is ErrorCode.DENIED
    assert error.hint == f"debugger attach --connect {host}:1"


@pytest.mark.parametrize(
    ("given", "text", "hint"),
    [
        ({"type": "chrome"}, f"which is not read; those that are: {', '.join(TYPES)}", ""),
        ({}, "of the type 'None'", ""),
        ({"type": "lldb", "request": "custom"}, "request 'custom'", ""),
        (
            {"type": "lldb", "cargo": {"args": ["build", "--bin=a b"]}},
            "nothing is built",
            "cargo build '--bin=a b'; then debugger start",
        ),
        ({"type": "debugpy", "code": "1"}, "code without a file", ""),
        ({"type": "debugpy", "program": ["a"]}, "program is a text", ""),
        (
            {"type": "cppdbg", "program": "b/app", "args": ["a b"], "preLaunchTask": "build all"},
            "runs the task 'build all' first",
            "cc -g 'a b.c' -o app; then debugger start b/app -- 'a b'",
        ),
        (
            {"type": "node", "program": "a.js", "preLaunchTask": "npm: build"},
            "task 'npm: build'",
            "npm run build; then debugger start a.js",
        ),
        (
            {"type": "debugpy", "program": "a.py", "preLaunchTask": "?", "envFile": ".env"},
            "task '?'",
            "run the task '?'; then set -a; . ./.env; set +a; debugger start a.py",
        ),
        (
            {"type": "debugpy", "module": "app", "args": ["--env", "${input:env}"]},
            "Which one? (dev, prod), usually dev",
            "debugger start -m app -- --env ENV",
        ),
        (
            {"type": "debugpy", "program": "${input:none}"},
            "an editor asks for: the input none",
            "debugger start NONE",
        ),
        (
            {"type": "lldb", "program": "${command:cmake.launchTargetPath}"},
            "which only an editor knows",
            "debugger start LAUNCH_TARGET_PATH",
        ),
        (
            {"type": "lldb", "request": "attach", "pid": "${command:pickMyProcess}"},
            "only an editor knows",
            "debugger attach PID",
        ),
        (
            {"type": "debugpy", "program": "${PORT}"},
            "${env:PORT} is",
            "debugger start PORT",
        ),
        (
            {"type": "debugpy", "program": "${file}"},
            "for the editor's present file",
            'debugger start FILE --config "C0"',
        ),
        ({"type": "debugpy", "request": "attach"}, "attach without a process", ""),
        ({"type": "debugpy"}, "'C0' names no program", "debugger start PROGRAM"),
        ({"type": "debugpy", "request": "attach", "listen": {}}, "cannot listen", ""),
    ],
)
def test_what_only_an_editor_can_do_is_refused_with_the_command_that_does_it(
    project: Project, given: dict[str, Any], text: str, hint: str
):
    asked = {"id": "env", "description": "Which one?", "options": ["dev", "prod"], "default": "dev"}
    project.write({"request": "launch", **given}, inputs=[asked])
    tasks = [{"label": "build all", "command": "cc", "args": ["-g", "a b.c", "-o", "app"]}]
    (project.folder / ".vscode" / "tasks.json").write_text(json.dumps({"tasks": tasks}))
    error = project.refused()
    assert text in error.message
    assert hint in str(error.hint)


def test_what_concerns_only_the_editor_may_hold_any_variable(project: Project):
    project.launch(program="p", skipFiles=["${input:x}"], presentation={"group": "${command:y}"})


def test_names_are_found_by_case_suggested_and_counted(project: Project):
    launch = {"type": "debugpy", "request": "launch", "program": "p"}
    project.write(
        {**launch, "name": "Python: API"},
        {**launch, "name": "Python: API", "program": "other"},
        {**launch, "name": ""},
        {**launch, "name": "Tests"},
        compounds=[{"name": "All", "configurations": ["Tests", {"name": "Python: API"}]}],
    )
    file = find_launch_file(str(project.folder))
    assert select_configuration(file, "python: api")["program"] == "p"
    assert file.notes == (
        "'Python: API' is there twice; the first counts",
        "a configuration without a name is left out",
    )
    near = project.refused("Pyton API")
    assert near.code is ErrorCode.NOT_FOUND
    assert near.hint == 'debugger start --config "Python: API"'
    assert "'Python: API', 'Tests'" in project.refused("zzz").message
    assert project.refused("all").hint == 'debugger start --config "All" starts them as one group'
    rows = {one.name: one.problem or one.command for one in list_rows(file, project.values())}
    assert rows == {
        "Python: API": "start p",
        "Tests": "start p",
        "All": 'start --config "All"',
    }
    assert configuration_names(str(project.folder)) == ["Python: API", "Tests", "All"]


def test_a_compound_is_listed_as_far_as_it_can_be_started(project: Project):
    launch = {"type": "debugpy", "request": "launch"}
    compounds = {
        "Both": {"configurations": ["App", "app"]},
        "Gone": {"configurations": ["App", "Nothing"]},
        "Asks": {"configurations": ["App", "File"]},
        "None": {"configurations": []},
        "Built": {"configurations": ["App"], "preLaunchTask": "build"},
    }
    project.write(
        {**launch, "name": "App", "program": "p"},
        {**launch, "name": "File", "program": "${file}"},
        compounds=[{"name": name, **one} for name, one in compounds.items()],
    )
    tasks = [{"label": "build", "command": "make", "options": {"cwd": "${workspaceFolder}/c d"}}]
    (project.folder / ".vscode" / "tasks.json").write_text(json.dumps({"tasks": tasks}))
    file = find_launch_file(str(project.folder))
    rows = {one.name: one for one in list_rows(file, project.values())}
    assert (rows["Both"].command, rows["Both"].problem) == ('start --config "Both"', None)
    assert rows["Both"].parts == ("App", "app")
    problems = {name: str(rows[name].problem) for name in compounds if name != "Both"}
    assert "no configuration 'Nothing'" in problems["Gone"]
    assert problems["Asks"] == "File: is for the editor's present file (${file})"
    assert problems["None"] == "is a compound of no configurations"
    assert problems["Built"] == "runs the task 'build' first, and tasks are not run here"
    assert find_compound(file, "both", project.values()) == ("App", "app")
    assert find_compound(file, "App", project.values()) == ()
    with pytest.raises(DebuggerError) as caught:
        find_compound(file, "Built", project.values())
    folder = f"'{project.folder}/c d'"
    assert caught.value.hint == f'(cd {folder} && make); then debugger start --config "App"'


def test_a_list_says_what_each_is_or_why_not(project: Project):
    project.write(
        {"type": "debugpy", "request": "launch", "program": "${file}"},
        {"type": "java", "request": "launch"},
    )
    first, second = list_rows(find_launch_file(str(project.folder)), project.values())
    assert (first.command, first.problem) == ('start FILE --config "C0"', None)
    assert second.problem is not None
    assert second.problem.startswith("is of the type 'java'")
    assert names_present_file(find_launch_file(str(project.folder)), "C0")


def test_the_nearest_file_above_counts_and_others_are_named(project: Project):
    below = project.folder / "a" / "b"
    below.mkdir(parents=True)
    (project.folder / ".zed").mkdir()
    (project.folder / ".zed" / "debug.json").write_text("[]")
    (project.folder / ".idea" / "runConfigurations").mkdir(parents=True)
    (project.folder / ".idea" / "runConfigurations" / "App.xml").write_text("<a/>")
    with pytest.raises(DebuggerError) as caught:
        find_launch_file(str(below))
    assert caught.value.code is ErrorCode.NOT_FOUND
    assert "App.xml" in caught.value.message
    assert ".zed/debug.json" in caught.value.message
    project.write({"type": "debugpy", "request": "launch", "program": "p"})
    file = find_launch_file(str(below))
    assert file.folder == str(project.folder)
    assert [Path(one.removeprefix("not read: ")).name for one in file.notes] == [
        "App.xml",
        "debug.json",
    ]


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b"1", b" " * (1 << 20) + b"{}"])
def test_a_file_that_cannot_be_read_is_named(project: Project, content: bytes):
    (project.folder / ".vscode" / "launch.json").write_bytes(content)
    error = project.refused()
    assert error.code is ErrorCode.USAGE
    assert "launch.json" in error.message


@pytest.mark.parametrize(
    "content",
    [{}, {"configurations": 1, "compounds": {}, "inputs": "a"}, {"configurations": [1, "a", None]}],
)
def test_a_file_without_configurations_has_none(project: Project, content: Any):
    (project.folder / ".vscode" / "launch.json").write_text(json.dumps(content))
    assert project.refused("C0").hint == "debugger start --list-configs"
    assert list_rows(find_launch_file(str(project.folder)), project.values()) == []


def test_a_file_of_another_user_above_is_passed_over(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    project.write({"type": "debugpy", "request": "launch", "program": "p"})
    below = project.folder / "below"
    below.mkdir()
    own = launch_file._owner

    def owner(path: Path) -> int | None:
        return 4321 if path == project.folder / launch_file.FILE else own(path)

    monkeypatch.setattr(launch_file, "_owner", owner)
    with pytest.raises(DebuggerError) as caught:
        find_launch_file(str(below))
    assert caught.value.code is ErrorCode.NOT_FOUND
