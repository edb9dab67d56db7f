"""The selected backend, wherever the selection is made."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from debugger.backends import abilities, select_backend
from debugger.backends.adapters.lldb import lldb_dap_adapter
from debugger.backends.dap.debug_adapter import AdapterLocation, AdapterSearch
from debugger.backends.select_backend import (
    BY_COMMAND_LINE,
    FROM_INSIDE,
    SelectedBackend,
    choose_backend,
    resolve_backend_adapter,
)
from debugger.config import AdapterSettings
from debugger.errors import DebuggerError, ErrorCode
from fakes.fake_adapter import change_adapter

OURS, THEIRS = "DEBUGGER_BACKEND", "XCODEBUILDMCP_DEBUGGER_BACKEND"
EVERYWHERE = {OURS: "dap", THEIRS: "dap"}


@pytest.mark.parametrize(
    ("option", "env", "configured", "expected"),
    [
        (None, {}, None, ("dap", "default")),
        ("lldb-cli", EVERYWHERE, "dap", ("lldb-cli", "--backend")),
        (None, {OURS: "lldb-cli", THEIRS: "dap"}, "dap", ("lldb-cli", OURS)),
        (None, {THEIRS: "lldb-cli"}, "dap", ("lldb-cli", THEIRS)),
        (None, {THEIRS: "lldb"}, None, ("lldb-cli", THEIRS)),
        (None, {THEIRS: "dap"}, "lldb-cli", ("dap", THEIRS)),
        (None, {}, "lldb-cli", ("lldb-cli", "[defaults] backend")),
        (None, {}, "lldb", ("lldb-cli", "[defaults] backend")),
        (None, {OURS: "", THEIRS: ""}, None, ("dap", "default")),
    ],
)
def test_the_nearest_word_counts(option, env, configured, expected):
    assert choose_backend(option, env, configured) == SelectedBackend(*expected)


@pytest.mark.parametrize(
    ("option", "env", "configured", "where"),
    [
        ("nope", {}, None, "--backend"),
        ("", {}, None, "--backend"),
        ("lldb", {}, None, "--backend"),
        (None, {OURS: "nope"}, None, OURS),
        (None, {OURS: "lldb"}, None, OURS),
        (None, {THEIRS: "nope"}, None, THEIRS),
        (None, {}, "nope", "[defaults] backend"),
    ],
)
def test_an_unknown_one_is_an_error_that_says_where_it_is_from(option, env, configured, where):
    with pytest.raises(DebuggerError) as raised:
        choose_backend(option, env, configured)
    assert raised.value.code is ErrorCode.USAGE
    assert where in raised.value.message
    assert "dap, lldb-cli" in raised.value.message
    assert raised.value.hint


EXPLICIT = SelectedBackend("lldb-cli", "--backend")
FROM_ENV = SelectedBackend("lldb-cli", OURS)


def test_a_compiled_program_is_driven_by_it():
    for selected in (EXPLICIT, FROM_ENV):
        for language in ("c", "c++", "rust", "swift", "native"):
            for adapter in (None, "lldb"):
                found = resolve_backend_adapter(selected, adapter, language, "a.out")
                assert found is BY_COMMAND_LINE
    assert resolve_backend_adapter(SelectedBackend(), None, "c", "a.out") is None


@pytest.mark.parametrize("language", ["python", "go", "javascript", ""])
def test_another_program_is_refused_where_the_command_says_so_and_else_left_to_dap(language):
    with pytest.raises(DebuggerError, match="app") as raised:
        resolve_backend_adapter(EXPLICIT, None, language, "app")
    assert raised.value.code is ErrorCode.NOT_SUPPORTED
    assert "--backend dap" in (raised.value.hint or "")
    assert resolve_backend_adapter(FROM_ENV, None, language, "app") is None


def test_another_adapter_beside_it_is_an_error_or_comes_before_what_is_set_for_all():
    with pytest.raises(DebuggerError, match="gdb") as raised:
        resolve_backend_adapter(EXPLICIT, "gdb", "c", "a.out")
    assert raised.value.code is ErrorCode.USAGE
    assert resolve_backend_adapter(FROM_ENV, "gdb", "c", "a.out") is None


def test_what_only_it_can_beside_gdb_names_it():
    assert select_backend.adapters_with(abilities.SingleThreadAbility) == (
        "gdb, lldb (--backend lldb-cli), frida (--backend frida)"
    )


INSIDE = SelectedBackend("frida", "--backend")


@pytest.mark.parametrize("language", ["c", "c++", "rust", "native"])
def test_a_compiled_program_is_entered_where_that_is_asked_for(language):
    assert resolve_backend_adapter(INSIDE, None, language, "a.out") is FROM_INSIDE
    assert resolve_backend_adapter(INSIDE, "frida", language, "a.out") is FROM_INSIDE


@pytest.mark.parametrize("language", ["go", "python", "swift"])
def test_what_cannot_be_entered_is_refused(language):
    with pytest.raises(DebuggerError, match="frida cannot debug app") as raised:
        resolve_backend_adapter(INSIDE, None, language, "app")
    assert raised.value.code is ErrorCode.NOT_SUPPORTED


@pytest.mark.parametrize("missing", ["frida", "capstone"])
def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch, missing):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        select_backend.importlib.util,
        "find_spec",
        lambda name: None if name == missing else found(name),
    )
    with pytest.raises(DebuggerError, match="frida is not installed") as raised:
        select_backend.find_adapter(FROM_INSIDE, {}, {})
    assert raised.value.code is ErrorCode.ADAPTER_NOT_FOUND
    assert raised.value.hint == "pip install 'debugger-cli[frida]'"


def test_nothing_of_the_extra_is_imported_before_it_is_chosen():
    words = (
        "import sys, debugger.backends.select_backend;print({'frida', 'capstone'} & {*sys.modules})"
    )
    told = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout == "set()\n"


@pytest.mark.parametrize(("platform", "names"), [("darwin", "xcrun"), ("linux", "setup lldb-dap")])
def test_where_lldb_dap_is_missing_the_way_to_get_it_and_the_way_without_it_are_named(
    platform, names, monkeypatch
):
    hint = lldb_dap_adapter.build_missing_hint(platform)
    assert names in hint
    assert "--backend lldb-cli" in hint
    missing = change_adapter(select_backend.ADAPTERS["lldb-dap"], find_installation=lambda _: None)
    with pytest.raises(DebuggerError, match="lldb-dap is not installed") as raised:
        select_backend.find_adapter(missing, {}, {})
    assert "--backend lldb-cli" in str(raised.value.hint)


def test_on_a_mac_xcodes_lldb_dap_comes_before_that_on_the_path(monkeypatch, tmp_path):
    on_path = tmp_path / "lldb-dap"
    on_path.touch(mode=0o755)
    search = AdapterSearch({"PATH": str(tmp_path)})
    monkeypatch.setattr(lldb_dap_adapter.sys, "platform", "darwin")
    monkeypatch.setattr(
        lldb_dap_adapter, "_find_by_xcrun", lambda _: AdapterLocation(("/Xcode/lldb-dap",))
    )
    assert select_backend.ADAPTERS["lldb-dap"].find_installation(search) == AdapterLocation(
        ("/Xcode/lldb-dap",)
    )
    monkeypatch.setattr(lldb_dap_adapter, "_find_by_xcrun", lambda _: None)
    assert select_backend.ADAPTERS["lldb-dap"].find_installation(search) == AdapterLocation(
        (str(on_path),)
    )


@pytest.mark.parametrize(
    ("type_language", "installed", "expected"),
    [
        ("", {"lldb-dap", "gdb"}, "lldb-dap"),
        ("fortran", {"lldb-dap", "gdb"}, "gdb"),
        ("ada", {"lldb-dap"}, "lldb-dap"),
        ("d", set(), "gdb"),
    ],
)
def test_a_debugger_that_knows_the_types_of_a_program_is_taken_first(
    monkeypatch, type_language, installed, expected
):
    monkeypatch.setattr(select_backend, "_is_installed", lambda one, *_: one.name in installed)
    chosen = select_backend.choose_program_adapter("/p/a", "native", {}, {}, type_language)
    assert chosen is not None
    assert chosen.name == expected


def test_a_configured_adapter_that_cannot_be_run_is_named_with_what_to_change(tmp_path):
    plain = tmp_path / "lldb-dap"
    plain.touch(mode=0o644)
    for path, says in ((plain, "is not executable"), (tmp_path, "is no file")):
        own = {"lldb-dap": AdapterSettings(path=str(path))}
        with pytest.raises(DebuggerError, match=f"lldb-dap cannot be run: {path} {says}") as raised:
            select_backend.find_adapter(select_backend.ADAPTERS["lldb-dap"], {}, own)
        assert raised.value.code is ErrorCode.ADAPTER_NOT_FOUND
        assert "[adapters.lldb-dap] path" in str(raised.value.hint)
