"""Sources that were moved since the build, are named in part, or exist in no file."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import debuggees
from cli_commands import answer_data, print_value
from refused_commands import check_refused
from running_programs import attach_to_stop, debugpy_server_command, find_free_port, run_program

lldb = pytest.mark.adapter("lldb-dap", "gcc")
python = pytest.mark.adapter("debugpy")

TWICE = "int twice(int n) {\n    int doubled = n * 2;\n    return doubled; // @returns\n}\n"
HALF = "int half(int n) {\n    int halved = n / 2;\n    return halved; // @returns\n}\n"
MAIN = """int twice(int);
int half(int);
int main(void) {
    int sum = twice(4);
    sum += half(4); // @half
    return sum; // @end
}
"""


@pytest.fixture
def moved(tmp_path, runtime_dir):
    """Build a program in one folder and move its sources to another; give the program's path."""
    built = tmp_path / "built"
    for name, text in (("a/util.c", TWICE), ("b/util.c", HALF), ("main.c", MAIN)):
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_text(text)
    words = [shutil.which("gcc"), "-g", "-O0", "-o", str(tmp_path / "app")]
    subprocess.run([*words, "main.c", "a/util.c", "b/util.c"], cwd=built, check=True, timeout=60)
    built.rename(tmp_path / "here")
    return tmp_path / "app"


@pytest.fixture
def mapped(moved, runtime_dir):
    """Say in the configuration where the sources are now."""
    folder = moved.parent
    config = f'[sources]\nmap = {{ "{folder}/built" = "{folder}/here" }}\n'
    (runtime_dir / "config.toml").write_text(config)
    return moved


@lldb
def test_sources_that_were_moved_are_found_by_the_map_both_ways(cli, mapped):
    here = mapped.parent / "here"
    stop = answer_data(cli("--json", "start", mapped, "--break", f"{here}/b/util.c:3", check=0))
    assert (stop["frame"]["file"], stop["frame"]["line"]) == (f"{here}/b/util.c", 3)
    current = next(one for one in stop["source"] if one["current"])
    assert current["text"].strip() == "return halved; // @returns"
    assert [one["file"] for one in stop["stack"][:2]] == [f"{here}/b/util.c", f"{here}/main.c"]
    assert print_value(cli, "halved") == "2"
    (listed,) = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert (listed["file"], listed["verified"]) == (f"{here}/b/util.c", True)
    shown = answer_data(cli("--json", "source", check=0))
    assert shown["file"] == f"{here}/b/util.c"
    later = answer_data(cli("--json", "until", f"{here}/main.c:6", check=0))
    assert (later["frame"]["file"], later["frame"]["line"]) == (f"{here}/main.c", 6)
    cli("jump", "4", check=0)
    assert answer_data(cli("--json", "next", check=0))["frame"]["line"] == 5
    unbound = answer_data(cli("--json", "break", f"{here}/main.c:900", check=0))
    assert (unbound["verified"], unbound["file"]) == (False, f"{here}/main.c")
    assert 6 in unbound["nearest_lines"]


@lldb
def test_a_file_of_the_program_is_named_by_a_part_of_its_path(cli, mapped, tmp_path):
    here = mapped.parent / "here"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("start", mapped, "--break", "main.c:4")
    stop = answer_data(cli("--json", *words, cwd=elsewhere, check=0))
    assert stop["frame"]["file"] == f"{here}/main.c"
    far = answer_data(cli("--json", "break", "a/util.c:3", cwd=elsewhere, check=0))
    assert (far["file"], far["verified"]) == (f"{here}/a/util.c", True)
    says = ("2 files are called util.c", f"{here}/a/util.c", f"{here}/b/util.c")
    check_refused(
        cli, "break", "util.c:3", exit=2, code="USAGE", says=says, hint="debugger break a/util.c:3"
    )
    # In the folder of one of them that one is meant.
    near = answer_data(cli("--json", "break", "util.c:3", cwd=here / "b", check=0))
    assert (near["file"], near["verified"]) == (f"{here}/b/util.c", True)
    unknown = answer_data(cli("--json", "break", "nosuch/util.c:3", check=0))
    assert unknown["verified"] is False
    assert len(answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]) == 4


@lldb
def test_without_a_map_it_stops_all_the_same_and_says_what_would_show_the_source(cli, moved):
    built = moved.parent / "built"
    stop = answer_data(
        cli("--json", "start", moved, "--break", "main.c:5", cwd=built.parent, check=0)
    )
    assert (stop["frame"]["file"], stop["source"]) == (f"{built}/main.c", [])
    says = f"cannot read {built}/main.c"
    check_refused(cli, "source", exit=1, code="NOT_FOUND", says=says, hint="[sources] map")
    # Also from the folder where the file lies now.
    again = answer_data(cli("--json", "break", "main.c:6", cwd=moved.parent / "here", check=0))
    assert (again["verified"], again["file"]) == (True, f"{built}/main.c")


NO_MAPS = [
    ('map = { "src" = "/x" }', "not an absolute path: 'src'"),
    ('map = { "/src" = 1 }', "sources.map"),
    ('maps = { "/src" = "/x" }', "unknown key 'sources.maps'; did you mean 'map'?"),
]


@lldb
def test_a_map_that_is_none_is_refused(cli, moved, runtime_dir):
    for text, says in NO_MAPS:
        (runtime_dir / "config.toml").write_text(f"[sources]\n{text}\n")
        check_refused(cli, "start", moved, exit=2, code="USAGE", says=says, hint="debugger config")


@python
def test_a_python_program_that_runs_elsewhere_is_debugged_by_the_files_here(
    cli, runtime_dir, tmp_path
):
    for name in ("deployed", "here"):
        (tmp_path / name).mkdir()
        shutil.copy(debuggees.find_source("endless.py"), tmp_path / name / "endless.py")
    config = f'[sources]\nmap = {{ "{tmp_path}/deployed" = "{tmp_path}/here" }}\n'
    (runtime_dir / "config.toml").write_text(config)
    port = find_free_port()
    line = debuggees.find_marker("endless.py", "count")
    place = f"{tmp_path}/here/endless.py:{line}"
    with run_program(
        *debugpy_server_command(tmp_path / "deployed/endless.py", port), ready="counting"
    ):
        stop = attach_to_stop(cli, "--connect", str(port), "--break", place)
        assert (stop["frame"]["file"], stop["frame"]["line"]) == (
            f"{tmp_path}/here/endless.py",
            line,
        )
        assert next(one for one in stop["source"] if one["current"])["line"] == line
        cli("detach", check=0)


@python
def test_a_script_of_a_folder_below_is_named_by_a_part_of_its_path(cli, tmp_path):
    app = tmp_path / "app"
    for name in ("a", "b"):
        (app / name).mkdir(parents=True)
        # Not alike: debugpy 1.8.22 takes equal code of two files for one.
        text = f"def work():\n    return {name!r}\n\n\nwork()\n"
        (app / name / "mod.py").write_text(text)
    (app / "run.py").write_text("import a.mod\nimport b.mod\n")
    words = ("start", app / "run.py", "--break", "b/mod.py:2")
    stop = answer_data(cli("--json", *words, cwd=tmp_path, check=0))
    assert (stop["frame"]["file"], stop["frame"]["line"]) == (str(app / "b/mod.py"), 2)
    says = ("2 files are called mod.py", str(app / "a/mod.py"))
    words = ("break", "mod.py:2")
    # The file of the stop is in the folder b, so there it is one of the two that is meant.
    near = answer_data(cli("--json", *words, cwd=tmp_path, check=0))
    assert near["file"] == str(app / "b/mod.py")
    cli("stop", check=0)
    words = ("start", app / "run.py", "--break", "mod.py:2")
    check_refused(cli, *words, cwd=tmp_path, exit=2, code="USAGE", says=says)


@python
def test_source_that_only_the_debugger_has_is_shown(cli, tmp_path):
    made = 'text = "def made(n):\\n    return n * 2\\n"\nspace = {}\n'
    made += 'exec(compile(text, "<made up>", "exec"), space)\nspace["made"](4)\n'
    script = tmp_path / "makes.py"
    script.write_text(made)
    cli("start", script, "--break", "makes.py:4", cwd=tmp_path, check=0)
    stop = answer_data(cli("--json", "step", check=0))
    assert stop["frame"]["function"] == "made"
    shown = answer_data(cli("--json", "source", check=0))
    assert (shown["file"], shown["function"]) == ("<made up>", "made")
    # Of code without a file debugpy writes down what the instructions mean.
    assert "n" in next(one for one in shown["lines"] if one["current"])["text"]


def test_a_map_is_shown_by_config(cli, runtime_dir):
    (runtime_dir / "config.toml").write_text('[sources]\nmap = { "/build" = "/home" }\n')
    settings = answer_data(cli("--json", "config", check=0))["settings"]
    shown = {one["name"]: one["value"] for one in settings}
    assert shown["sources.map"] == {"/build": "/home"}


@pytest.mark.adapter("debugpy")
def test_the_source_of_a_function_is_all_of_it(cli):
    cli("start", debuggees.find_source("loop.py"), "--break", "calculate", check=0)
    whole = answer_data(cli("--json", "source", "--function", check=0))
    assert [one["text"].strip()[:4] for one in whole["lines"]] == ["def ", "squa", "prin", "retu"]
    named = answer_data(cli("--json", "source", "sum_to", check=0))
    assert named["lines"][0]["text"].startswith("def sum_to(")
    assert not any(one["current"] for one in named["lines"])
    assert cli("source", "nosuch").exit == 1
