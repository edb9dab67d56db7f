"""An adapter is installed and proved, and nothing is left of a failure."""

from __future__ import annotations

import errno
import functools
import http.server
import json
import os
import sys
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from debugger import config
from debugger.backends import select_backend
from debugger.backends.dap.debug_adapter import AdapterLocation, AdapterSearch
from debugger.errors import DebuggerError, ErrorCode
from debugger.install import download, installer
from debugger.install.caller_machine import CallerMachine
from debugger.install.install_methods import NpmFiles, SystemPackages
from debugger.install.installer import AdapterSetup
from debugger.install.recipes import InstallRecipe, RequiredTool
from debugger.model.answers import AdapterView
from fakes import fake_adapter
from fakes.fake_adapter import change_adapter

SCRIPT = f"#!/bin/sh\nexec {sys.executable} {fake_adapter.ADAPTER}\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        yield folder, f"http://127.0.0.1:{serving.server_port}/"
        serving.shutdown()
        thread.join()


def packed(folder: Path, script: str = SCRIPT, version: str = "1.0") -> NpmFiles:
    """Pack an npm package with an adapter in it; return the way to it."""
    (folder / "adapter").write_text(script)
    (folder / "adapter").chmod(0o755)
    file = folder / f"fake-{version}.tgz"
    with tarfile.open(file, "w:gz") as opened:
        opened.add(folder / "adapter", "package/fake/adapter")
        opened.add(folder / "adapter", "package/fake/unwanted")
    return NpmFiles(
        package="@scope/fake",
        version=version,
        sha512=download.file_checksum(file),
        size=file.stat().st_size,
        folder="package/fake",
        kept=lambda path: path == "adapter",
        content=f"fake {version}",
    )


class PreparedSetup:
    """A setup of the fake adapter, on a machine of the test's own."""

    def __init__(self, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data = tmp_path / "data" / "debugger-cli" / "adapters"
        self.config = tmp_path / "config.toml"
        self.scratch = tmp_path / "scratch"
        self.env = {
            "PATH": os.environ["PATH"],
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "DEBUGGER_SETUP_URL": url,
            "DEBUGGER_CONFIG": str(self.config),
        }
        self.version = "1.0"

        def find(search: AdapterSearch) -> AdapterLocation | None:
            path = search.path or str(self.data / "fake" / "adapter")
            return AdapterLocation((path,), self.version) if Path(path).exists() else None

        adapter = change_adapter(fake_adapter.FAKE_ADAPTER, find_installation=find)
        monkeypatch.setattr(select_backend, "ADAPTERS", {"fake": adapter})

    def setup(self, *ways: Any, **more: Any) -> AdapterSetup:
        recipe = InstallRecipe("fake", ways=ways, **more)
        return AdapterSetup(
            machine=CallerMachine(self.env),
            config_file=self.config,
            reload=lambda: config.load_config(self.env).adapters,
            scratch_root=self.scratch,
            recipes={"fake": recipe},
        )

    def left(self) -> set[str]:
        found = self.data.iterdir() if self.data.exists() else ()
        return {path.name for path in found if path.suffix != ".lock"}


@pytest.fixture
def prepared_setup(tmp_path: Path, served, monkeypatch: pytest.MonkeyPatch) -> PreparedSetup:
    return PreparedSetup(tmp_path, served[1], monkeypatch)


async def fails(setup: AdapterSetup, code: ErrorCode, says: str) -> DebuggerError:
    with pytest.raises(DebuggerError) as found:
        await setup.install_adapter("fake")
    assert found.value.code is code
    assert says in found.value.message
    assert found.value.hint
    return found.value


async def _listed(setup: AdapterSetup) -> AdapterView:
    """Return the fake among the adapters; others may be known from the PATH."""
    found = (await setup.list_adapters()).adapters
    return next(one for one in found if one.name == "fake")


async def test_an_adapter_is_planned_checked_installed_and_proved(prepared_setup, served):
    setup = prepared_setup.setup(packed(served[0]))
    planned = await setup.plan_install("fake")
    assert (planned.status, planned.changed) == ("planned", False)
    assert "fake-1.0.tgz" in planned.steps[0]
    checked = await setup.check_install("fake")
    assert (checked.status, checked.works) == ("checked", True)
    assert prepared_setup.left() == set()
    before = await _listed(setup)
    assert (before.status, before.how) == ("missing", "debugger setup fake --yes")

    done = await setup.install_adapter("fake")
    assert (done.status, done.changed, done.version) == ("installed", True, "1.0")
    assert done.path == str(prepared_setup.data / "fake" / "adapter")
    assert prepared_setup.left() == {"fake"}
    assert {path.name for path in (prepared_setup.data / "fake").iterdir()} == {"adapter"}
    after = await _listed(setup)
    assert (after.status, after.path) == ("installed", done.path)

    again = await setup.install_adapter("fake")
    assert (again.status, again.changed) == ("installed", False)
    assert not prepared_setup.config.exists()


async def test_the_python_of_an_adapter_is_compiled_by_a_program_of_it(prepared_setup, served):
    script = SCRIPT.replace("exec", '[ "$1" = compile ] && exec touch "${0%/*}/compiled"\nexec', 1)
    way = replace(packed(served[0], script), compiling=("adapter", "compile"))
    await prepared_setup.setup(way).install_adapter("fake")
    found = {path.name for path in (prepared_setup.data / "fake").iterdir()}
    assert found == {"adapter", "compiled"}


async def test_an_older_one_of_ours_is_replaced(prepared_setup, served):
    await prepared_setup.setup(packed(served[0])).install_adapter("fake")
    newer = prepared_setup.setup(packed(served[0], SCRIPT + "# newer\n", "1.1"))
    planned = await newer.plan_install("fake")
    assert planned.status == "planned"

    def find(search: AdapterSearch) -> AdapterLocation | None:
        text = (prepared_setup.data / "fake/adapter").read_text()
        return AdapterLocation(
            (str(prepared_setup.data / "fake/adapter"),), "1.1" if "newer" in text else "1.0"
        )

    select_backend.ADAPTERS["fake"] = change_adapter(
        fake_adapter.FAKE_ADAPTER, find_installation=find
    )
    assert (await newer.install_adapter("fake")).version == "1.1"
    assert prepared_setup.left() == {"fake"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda whole: whole[:-30], "another sha512"),
        (lambda whole: whole[:-1] + b"x", "another sha512"),
        (lambda whole: whole + b"more", "at most were expected"),
    ],
)
async def test_a_file_that_was_changed_leaves_nothing(prepared_setup, served, change, says):
    way = packed(served[0])
    file = served[0] / way.archive_name
    file.write_bytes(change(file.read_bytes()))
    await fails(prepared_setup.setup(way), ErrorCode.ADAPTER_FAILED, says)
    assert prepared_setup.left() == set()


async def test_an_adapter_that_does_not_start_is_taken_back(prepared_setup, served):
    working = packed(served[0])
    await prepared_setup.setup(working).install_adapter("fake")
    prepared_setup.version = "0.9"  # so that it is to be replaced
    broken = packed(served[0], "#!/bin/sh\nexit 3\n", "1.1")
    await fails(prepared_setup.setup(broken), ErrorCode.ADAPTER_DIED, "exited with 3")
    assert prepared_setup.left() == {"fake"}
    assert (prepared_setup.data / "fake/adapter").read_text() == SCRIPT


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
async def test_a_full_disk_leaves_nothing(prepared_setup, served, monkeypatch, number):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number), "somewhere")

    monkeypatch.setattr(download, "_write_member", full)
    await fails(prepared_setup.setup(packed(served[0])), ErrorCode.ADAPTER_FAILED, "no space left")
    assert prepared_setup.left() == set()


async def test_no_room_is_known_before(prepared_setup, served, monkeypatch):
    way = replace(packed(served[0]), unpacked=10**18)
    checked = await prepared_setup.setup(way).check_install("fake")
    assert checked.works is False
    assert "no space" in str(checked.problem)
    await fails(prepared_setup.setup(way), ErrorCode.ADAPTER_FAILED, "no space")


async def test_a_network_that_is_down_is_said_by_check(prepared_setup, served):
    way = packed(served[0])
    prepared_setup.env["DEBUGGER_SETUP_URL"] = "http://nowhere.invalid"
    checked = await prepared_setup.setup(way).check_install("fake")
    assert checked.works is False
    assert "nowhere.invalid" in str(checked.problem)


async def test_an_unknown_name_is_refused_with_a_near_one(prepared_setup, served):
    with pytest.raises(DebuggerError) as found:
        await prepared_setup.setup().plan_install("fak")
    assert found.value.code is ErrorCode.USAGE
    assert "did you mean fake?" in (found.value.hint or "")


async def test_nothing_that_can_install_it_is_said(prepared_setup, served):
    elsewhere = replace(packed(served[0]), platforms=("beos-ppc",))
    setup = prepared_setup.setup(elsewhere, otherwise="ask Debian")
    error = await fails(setup, ErrorCode.ADAPTER_NOT_FOUND, "it is packed for beos-ppc")
    assert "ask Debian" in error.message


async def test_a_place_that_its_adapter_does_not_look_at_is_written_to_the_configuration(
    prepared_setup, served, tmp_path
):
    (tmp_path / "beyond").write_text(SCRIPT)
    (tmp_path / "beyond").chmod(0o755)
    prepared_setup.config.write_text("# mine\n")
    setup = prepared_setup.setup(beyond=(str(tmp_path / "bey*"),))
    done = await setup.install_adapter("fake")
    assert (done.config, done.path) == (str(prepared_setup.config), str(tmp_path / "beyond"))
    written = prepared_setup.config.read_text()
    assert written == f"# mine\n\n[adapters.fake]\npath = {json.dumps(str(tmp_path / 'beyond'))}\n"


async def test_a_configured_path_that_is_gone_is_replaced(prepared_setup, served):
    prepared_setup.config.write_text('[adapters.fake]\npath = "/nonexistent"  # old\n')
    done = await prepared_setup.setup(packed(served[0]), main="adapter").install_adapter("fake")
    path = prepared_setup.data / "fake" / "adapter"
    assert done.config == str(prepared_setup.config)
    assert prepared_setup.config.read_text() == f'[adapters.fake]\npath = "{path}"  # old\n'


# -- what needs root -------------------------------------------------------------------------------


def apt(tmp_path: Path, versions: Mapping[str, str]) -> str:
    """Make an apt-cache that knows packages, and an apt-get that notes what it is asked for."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    told = "".join(
        f"{name}:\n  Installed: (none)\n  Candidate: {version}\n"
        for name, version in versions.items()
    )
    (bin_ / "apt-cache").write_text(f"#!/bin/sh\n/bin/cat <<'E'\n{told}E\n")
    (bin_ / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    for path in bin_.iterdir():
        path.chmod(0o755)
    return str(bin_)


@pytest.mark.parametrize(
    ("versions", "least", "found"),
    [
        ({"gdb": "13.1-3"}, (14,), None),
        ({"gdb": "1:16.3-1"}, (14,), "gdb"),
        ({"gdb": "(none)"}, (), None),
        ({}, (), None),
        ({"gdb": "(none)", "gdb-new": "15.0.50-1ubuntu1"}, (14,), "gdb-new"),
    ],
)
async def test_the_first_package_that_is_new_enough_is_taken(tmp_path, versions, least, found):
    machine = CallerMachine({"PATH": apt(tmp_path, versions)}, system="linux", is_root=True)
    plan = await installer.choose_plan(
        InstallRecipe("gdb", (SystemPackages(apt=("gdb", "gdb-new"), least=least),)), machine
    )
    if found is None:
        assert plan.problem is not None
    else:
        assert plan.steps[-1] == f"apt-get install -y --no-install-recommends {found}"


async def test_without_root_the_commands_are_told_and_exit_is_5(tmp_path, prepared_setup):
    prepared_setup.env["PATH"] = apt(tmp_path, {"fake-deb": "1.0", "tool-deb": "2.0"})
    tool = RequiredTool("nosuchtool", (SystemPackages(apt=("tool-deb",)),))
    setup = prepared_setup.setup(SystemPackages(apt=("fake-deb",)), needs=(tool,))
    setup = replace(setup, machine=replace(setup.machine, system="linux", is_root=False))
    error = await fails(setup, ErrorCode.ADAPTER_NOT_FOUND, "needs root")
    assert error.exit_code == 5
    assert "sudo apt-get install -y --no-install-recommends tool-deb\n" in error.message
    assert error.message.endswith("sudo apt-get install -y --no-install-recommends fake-deb")
    assert not (tmp_path / "asked").exists()
    (view,) = (await setup.list_adapters()).adapters
    assert "sudo apt-get" in str(view.how)


async def test_with_root_apt_is_run_for_what_is_missing(tmp_path, prepared_setup, monkeypatch):
    monkeypatch.setattr("debugger.install.install_methods.has_lists", lambda: True)
    prepared_setup.env["PATH"] = apt(tmp_path, {"fake-deb": "1.0"})
    setup = prepared_setup.setup(SystemPackages(apt=("fake-deb",)))
    setup = replace(setup, machine=replace(setup.machine, system="linux", is_root=True))
    await fails(
        setup, ErrorCode.ADAPTER_NOT_FOUND, "fake is not installed"
    )  # this apt installs nothing
    asked = (tmp_path / "asked").read_text()
    assert asked == "install -y --no-install-recommends fake-deb\n"
