"""`crash` of a call's result that is nothing: it names the call, and where that returned it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs" / "results"
PYTHON = """
class Repo:
    def find(self, key):
        if key == "a":
            return self
        return None

def load(repo, key):
    return repo.find(key).rows

load(Repo(), "b")
"""
NODE = """
class Repo {
  find(key) {
    if (key === "a") return this;
    return undefined;
  }
}
function load(repo, key) {
  return repo.find(key).rows;
}
load(new Repo(), "b");
"""
C = """
struct row { int key; int value; };
static struct row *find(struct row *rows, int n, int key) {
    for (int i = 0; i < n; i++) {
        if (rows[i].key == key) return &rows[i];
    }
    return 0;
}
int main(void) {
    struct row rows[] = {{1, 2}};
    return find(rows, 1, 3)->value;
}
"""

RUBY = """
class Repo
  def find(key)
    return self if key == "a"
    @asked = key
    nil
  end

  def rows = [1]
end

repo = Repo.new
puts repo.find("a").rows
puts repo.find("b").rows
"""
QUEUE = """
class Queue2
  def initialize(items)
    @items = items
  end

  def shift
    @items.shift
  end
end

queue = Queue2.new(["a", "b", nil, "c"])
4.times do
  puts queue.shift().upcase
end
"""
PHP = """<?php
class Repo {
    function find($key) {
        if ($key === "a") {
            return $this;
        }
        return null;
    }
    function rows() { return 1; }
}
$repo = new Repo;
echo $repo->find("b")->rows();
"""


def _check(cli: Callable[..., Any], folder: Path, *command: object, call: str, line: int) -> str:
    answer = cli("crash", "--json", "--", *command, cwd=folder, timeout=60).data["data"]
    assert (answer["why"]["expression"], answer["why"]["frame"]["line"]) == (call, line)
    cause: str = answer["cause"]
    return cause


def test_of_python(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PYTHON)
    cause = _check(cli, tmp_path, sys.executable, "a.py", call="repo.find(key)", line=6)
    says = "None: repo.find(key) returned None, .rows of it is read (AttributeError)"
    assert cause.startswith(says)


@pytest.mark.adapter("js-debug")
def test_of_javascript(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(NODE)
    cause = _check(cli, tmp_path, "node", "a.js", call="repo.find(key)", line=5)
    assert cause.startswith("undefined: repo.find(key) returned undefined, .rows of it is read")


@pytest.mark.adapter("lldb-dap")
def test_of_c(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(C)
    subprocess.run(["gcc", "-g", "-o", "a", "a.c"], cwd=tmp_path, check=True)
    cause = _check(cli, tmp_path, tmp_path / "a", call="find(rows, 1, 3)", line=7)
    assert "null pointer, at 0x4, perhaps what find(rows, 1, 3) returned" in cause
    asked = ("why", "find(rows, 1, 3)", "--at", "a.c:11", "--", tmp_path / "a")
    refused = cli(*asked, cwd=tmp_path, timeout=60, check=1)
    assert "the line has not made this call yet" in refused.err


@pytest.fixture(scope="module")
def rust_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("rustc") is None:
        pytest.skip("no rustc")
    folder = tmp_path_factory.mktemp("rust")
    source = PROGRAMS / "unwrapped.rs"
    subprocess.run(["rustc", "-g", "-o", "a", source], cwd=folder, check=True)
    return folder / "a"


@pytest.mark.adapter("gdb")
@pytest.mark.parametrize(
    ("bug", "call", "line", "says"),
    [
        ("none", "repo.find(at)", 5, "unwrap() of None, returned by repo.find(at) with at=3"),
        (
            "err",
            'repo.parse("12345")',
            11,
            'panic: rows: "too long: 12345", returned by repo.parse',
        ),
        ("chain", "repo.rate(at)", 16, "unwrap() of None, returned by repo.rate(at)"),
        ("key", "at", 21, "key 3 is not in rates with at=3"),
    ],
)
def test_of_rust(  # noqa: PLR0917 - a bug and its answer
    cli: Callable[..., Any], rust_program: Path, bug: str, call: str, line: int, says: str
) -> None:
    cause = _check(cli, rust_program.parent, rust_program, bug, call=call, line=line)
    assert cause.startswith(says)


@pytest.mark.adapter("gdb")
def test_why_of_a_call_is_about_its_result(cli: Callable[..., Any], rust_program: Path) -> None:
    asked = ("why", "repo.find(at)", "--at", "crash", "--json", "--", rust_program, "none")
    answer = cli(*asked, cwd=rust_program.parent, timeout=60).data["data"]
    assert (answer["expression"], answer["value"]) == ("repo.find(at)", "None")
    assert answer["links"][0]["statement"] == "return None;"


TAKEN = """
queue = [[1], [2]]

def take():
    if queue:
        return queue.pop()

total = 0
for turn in range(3):
    try:
        total += len(take().copy())
    except TypeError:
        pass
"""


@pytest.mark.adapter("debugpy")
def test_a_call_of_python_is_not_made_again(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TAKEN)
    _check(cli, tmp_path, sys.executable, "a.py", call="take()", line=5)
    asked = ("why", "take()", "--at", "crash", "--json", "--", sys.executable, "a.py")
    answer = cli(*asked, cwd=tmp_path, timeout=60).data["data"]
    assert answer["links"][0]["text"] == "returned by take (call 3)"


@pytest.mark.adapter("delve")
def test_of_go(cli: Callable[..., Any], tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "nil_result.go", tmp_path)
    cause = _check(cli, tmp_path, "nil_result.go", call="r.find(key)", line=10)
    assert cause.startswith("nil pointer, perhaps what r.find(key) returned")


@pytest.mark.adapter("rdbg")
def test_of_ruby(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.rb").write_text(RUBY)
    cause = _check(cli, tmp_path, "ruby", "a.rb", call='repo.find("b")', line=6)
    assert cause.startswith('nil: repo.find("b") returned nil, .rows of it is called')


@pytest.mark.adapter("rdbg")
def test_of_ruby_calls_no_method_again(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.rb").write_text(QUEUE)
    _check(cli, tmp_path, "ruby", "a.rb", call="queue.shift()", line=8)


@pytest.mark.adapter("xdebug")
def test_of_php(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.php").write_text(PHP)
    cause = _check(cli, tmp_path, "php", "a.php", call='$repo->find("b")', line=7)
    assert cause.startswith('null: $repo->find("b") returned null, ->rows of it is called')


@pytest.mark.adapter("xdebug")
def test_why_of_php_shows_bytes_that_are_no_text(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.php").write_text('<?php\n$text = "é caf\\xc3";\necho strlen($text);\n')
    words = ("why", "$text", "--at", "a.php:3", "--json", "--", "php", "a.php")
    answer = cli(*words, cwd=tmp_path, timeout=60).data["data"]
    assert answer["value"] == r"'é caf\xc3'"
