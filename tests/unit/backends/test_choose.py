"""Is the backend the one that was asked for, wherever that is said?"""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys

import pytest

from debugger.backends import abilities, choose
from debugger.backends.choose import (
    BY_COMMAND_LINE,
    FROM_INSIDE,
    Selected,
    backend_profile,
    select,
)
from debugger.backends.dap.adapters.lldb import lldb_dap
from debugger.backends.dap.profile import Found, Search
from debugger.config import Adapter as AdapterSettings
from debugger.errors import Code, DebuggerError

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
    assert select(option, env, configured) == Selected(*expected)


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
        select(option, env, configured)
    assert raised.value.code is Code.USAGE
    assert where in raised.value.message
    assert "dap, lldb-cli" in raised.value.message
    assert raised.value.hint


EXPLICIT = Selected("lldb-cli", "--backend")
FROM_ENV = Selected("lldb-cli", OURS)


def test_a_compiled_program_is_driven_by_it():
    for selected in (EXPLICIT, FROM_ENV):
        for language in ("c", "c++", "rust", "swift", "native"):
            for adapter in (None, "lldb"):
                found = backend_profile(selected, adapter, language, "a.out")
                assert found is BY_COMMAND_LINE
    assert backend_profile(Selected(), None, "c", "a.out") is None


@pytest.mark.parametrize("language", ["python", "go", "javascript", ""])
def test_another_program_is_refused_where_the_command_says_so_and_else_left_to_dap(language):
    with pytest.raises(DebuggerError, match="app") as raised:
        backend_profile(EXPLICIT, None, language, "app")
    assert raised.value.code is Code.NOT_SUPPORTED
    assert "--backend dap" in (raised.value.hint or "")
    assert backend_profile(FROM_ENV, None, language, "app") is None


def test_another_adapter_beside_it_is_an_error_or_comes_before_what_is_set_for_all():
    with pytest.raises(DebuggerError, match="gdb") as raised:
        backend_profile(EXPLICIT, "gdb", "c", "a.out")
    assert raised.value.code is Code.USAGE
    assert backend_profile(FROM_ENV, "gdb", "c", "a.out") is None


def test_what_only_it_can_beside_gdb_names_it():
    assert choose.having(abilities.ThreadsAlone) == (
        "gdb, lldb (--backend lldb-cli), frida (--backend frida)"
    )


INSIDE = Selected("frida", "--backend")


@pytest.mark.parametrize("language", ["c", "c++", "rust", "native"])
def test_a_compiled_program_is_entered_where_that_is_asked_for(language):
    assert backend_profile(INSIDE, None, language, "a.out") is FROM_INSIDE
    assert backend_profile(INSIDE, "frida", language, "a.out") is FROM_INSIDE


@pytest.mark.parametrize("language", ["go", "python", "swift"])
def test_what_cannot_be_entered_is_refused(language):
    with pytest.raises(DebuggerError, match="frida cannot debug app") as raised:
        backend_profile(INSIDE, None, language, "app")
    assert raised.value.code is Code.NOT_SUPPORTED


@pytest.mark.parametrize("missing", ["frida", "capstone"])
def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch, missing):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        choose.importlib.util, "find_spec", lambda name: None if name == missing else found(name)
    )
    with pytest.raises(DebuggerError, match="frida is not installed") as raised:
        choose.find(FROM_INSIDE, {}, {})
    assert raised.value.code is Code.ADAPTER_NOT_FOUND
    assert raised.value.hint == "pip install 'debugger-cli[frida]'"


def test_nothing_of_the_extra_is_imported_before_it_is_chosen():
    words = "import sys, debugger.backends.choose; print({'frida', 'capstone'} & {*sys.modules})"
    told = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout == "set()\n"


@pytest.mark.parametrize(("platform", "names"), [("darwin", "xcrun"), ("linux", "setup lldb-dap")])
def test_where_lldb_dap_is_missing_the_way_to_get_it_and_the_way_without_it_are_named(
    platform, names, monkeypatch
):
    hint = lldb_dap.missing_hint(platform)
    assert names in hint
    assert "--backend lldb-cli" in hint
    missing = dataclasses.replace(choose.PROFILES["lldb-dap"], find=lambda _: None)
    with pytest.raises(DebuggerError, match="lldb-dap is not installed") as raised:
        choose.find(missing, {}, {})
    assert "--backend lldb-cli" in str(raised.value.hint)


def test_on_a_mac_xcodes_lldb_dap_comes_before_that_on_the_path(monkeypatch, tmp_path):
    on_path = tmp_path / "lldb-dap"
    on_path.touch(mode=0o755)
    search = Search({"PATH": str(tmp_path)})
    monkeypatch.setattr(lldb_dap.sys, "platform", "darwin")
    monkeypatch.setattr(lldb_dap, "_find_by_xcrun", lambda _: Found(("/Xcode/lldb-dap",)))
    assert choose.PROFILES["lldb-dap"].find(search) == Found(("/Xcode/lldb-dap",))
    monkeypatch.setattr(lldb_dap, "_find_by_xcrun", lambda _: None)
    assert choose.PROFILES["lldb-dap"].find(search) == Found((str(on_path),))


def test_a_configured_adapter_that_cannot_be_run_is_named_with_what_to_change(tmp_path):
    plain = tmp_path / "lldb-dap"
    plain.touch(mode=0o644)
    for path, says in ((plain, "is not executable"), (tmp_path, "is no file")):
        own = {"lldb-dap": AdapterSettings(path=str(path))}
        with pytest.raises(DebuggerError, match=f"lldb-dap cannot be run: {path} {says}") as raised:
            choose.find(choose.PROFILES["lldb-dap"], {}, own)
        assert raised.value.code is Code.ADAPTER_NOT_FOUND
        assert "[adapters.lldb-dap] path" in str(raised.value.hint)
