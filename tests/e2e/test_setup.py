"""`setup` plans, installs completely or not at all, and exits with the right status."""

from __future__ import annotations

import functools
import http.server
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli_commands import answer_data
from debugger.install.recipes import RECIPES
from debugger.paths import data_dir
from refused_commands import check_refused

FILE = RECIPES["codelldb"].ways[0].archive_name  # type: ignore[attr-defined]
packed_for_here = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="packed for another system"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the commands a data directory of the test's own.

    The adapter for Java, which a list of them starts, is compiled there only if it is nowhere.
    """
    compiled = Path(data_dir(os.environ), "compiled")
    compiled.mkdir(parents=True, exist_ok=True)
    own = tmp_path / "data" / "debugger-cli"
    own.mkdir(parents=True)
    (own / "compiled").symlink_to(compiled)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return own / "adapters"


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """Serve the archive with a content."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("DEBUGGER_SETUP_URL", f"http://127.0.0.1:{serving.server_port}")
        yield lambda content: (folder / FILE).write_bytes(content) and None
        serving.shutdown()
        thread.join()


def list_left_files(home: Path) -> set[str]:
    return (
        {path.name for path in home.iterdir() if path.suffix != ".lock"} if home.exists() else set()
    )


def test_every_adapter_is_listed_with_where_it_is_or_how_it_comes(cli, home):
    listed = {one["name"]: one for one in answer_data(cli("--json", "setup", check=0))["adapters"]}
    assert {"lldb-dap", "debugpy", "gdb", "rdbg"} <= set(listed)
    assert listed["debugpy"]["status"] == "installed"
    assert listed["debugpy"]["version"]
    for one in listed.values():
        assert one["status"] in {"installed", "missing", "broken"}
        assert one["path"] if one["status"] == "installed" else one["how"]
    text = cli("setup", "--list", check=0).out
    assert all(name in text for name in listed)
    assert list_left_files(home) == set()


def test_what_is_here_is_not_installed_again(cli, home):
    for words in (("setup", "debugpy"), ("setup", "debugpy", "--yes")):
        told = answer_data(cli("--json", *words, check=0))
        assert (told["status"], told["changed"]) == ("installed", False)
    assert "is here already" in cli("setup", "debugpy", check=0).out


MEANINGLESS = [
    (("nosuch",), "no adapter 'nosuch'; there are: ", "debugger setup --list"),
    (("debugpi",), "no adapter 'debugpi'", "did you mean debugpy?"),
    (("gdb", "--list"), "--list is without", "debugger setup --list"),
    (("--yes",), "which adapter?", "debugger setup --list"),
    (("--check",), "which adapter?", "debugger setup --list"),
    (("gdb", "--yes", "--check"), "--check changes nothing", "debugger setup gdb --check"),
    (("gdb", "--ys"), "no option --ys", "--yes"),
]


def test_words_that_mean_nothing_are_refused(cli, home):
    for words, says, hint in MEANINGLESS:
        check_refused(cli, "setup", *words, exit=2, code="USAGE", says=says, hint=hint)


@packed_for_here
def test_a_plan_is_told_and_nothing_done(cli, home, serve):
    serve(b"x" * 1000)
    told = cli("setup", "codelldb", check=0).out
    assert f"/{FILE} (56 MB)" in told
    assert f"to {home}/codelldb" in told
    assert told.endswith("run: debugger setup codelldb --yes\n")
    checked = answer_data(cli("--json", "setup", "codelldb", "--check", check=0))
    assert (checked["status"], checked["works"]) == ("checked", True)
    assert list_left_files(home) == set()


@packed_for_here
@pytest.mark.parametrize("content", [b"x" * 100_000, b""], ids=["other", "empty"])
def test_another_file_than_the_chosen_one_is_not_unpacked(cli, home, serve, content):
    serve(content)
    told = cli("setup", "codelldb", "--yes", check=1)
    assert told.err.startswith("error: ")
    assert "bytes have another sha512" in told.err
    assert told.out.startswith("download http://127.0.0.1:")
    coded = cli("--json", "setup", "codelldb", "--yes", check=1)
    assert coded.data["error"]["code"] == "ADAPTER_FAILED"
    assert list_left_files(home) == set()


@packed_for_here
@pytest.mark.timeout(40)
def test_no_network_is_said_soon_and_leaves_nothing(cli, home, monkeypatch):
    monkeypatch.setenv("DEBUGGER_SETUP_URL", "http://nowhere.invalid")
    told = cli("setup", "codelldb", "--yes", check=1, timeout=15)
    assert "cannot download http://nowhere.invalid/" in told.err
    assert "check the network" in told.err
    checked = answer_data(cli("--json", "setup", "codelldb", "--check", check=0))
    assert checked["works"] is False
    assert "nowhere.invalid" in checked["problem"]
    assert list_left_files(home) == set()


@packed_for_here
def test_a_place_that_cannot_be_written_to_is_known_before(cli, home, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    told = cli("setup", "codelldb", "--yes", check=1)
    assert "cannot be written to" in told.err
    assert "XDG_DATA_HOME" in told.err


def test_doctor_warns_of_what_is_missing_with_the_command_that_installs_it(cli, home, monkeypatch):
    checks = {one["name"]: one for one in answer_data(cli("--json", "doctor", check=0))["checks"]}
    missing = [
        one for one in checks.values() if one["status"] == "warning" and one["name"] in RECIPES
    ]
    assert missing, "codelldb is in our data directory alone, and that is empty here"
    for one in missing:
        assert one["fix"] == f"debugger setup {one['name']} --yes"


def test_the_environment_is_the_callers(cli, home, monkeypatch):
    here = answer_data(cli("--json", "setup", check=0))["adapters"]
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    there = answer_data(cli("--json", "setup", check=0))["adapters"]
    # bash-dap is known where it is on the PATH, as the tests' own is beside their Python.
    assert "bash-dap" in [one["name"] for one in there]
    known = [[one["name"] for one in each if one["name"] != "bash-dap"] for each in (here, there)]
    assert known[0] == known[1]
    rdbg = next(one for one in there if one["name"] == "rdbg")
    assert rdbg["status"] == "missing"
