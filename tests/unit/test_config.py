"""The configuration is typed values, or a clear error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from debugger import config
from debugger.errors import DebuggerError, ErrorCode


def load(path: Path, text: str | bytes) -> config.Config:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return config.load_config({"DEBUGGER_CONFIG": str(path)})


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config.toml"


def test_without_a_file_the_defaults_hold(file):
    assert config.load_config({"DEBUGGER_CONFIG": str(file)}) == config.Config()


def test_the_file_is_found_by_the_callers_environment():
    assert config.config_path({"DEBUGGER_CONFIG": "/x"}) == Path("/x")
    assert config.config_path({"XDG_CONFIG_HOME": "/c"}) == Path("/c/debugger-cli/config.toml")
    assert config.config_path({"HOME": "/h"}) == Path("/h/.config/debugger-cli/config.toml")


def test_what_is_set_holds_and_the_rest_is_default(file):
    found = load(file, '[timeouts]\ndap_request_secs = 5\n[adapters.debugpy]\nargs = ["-v"]\n')
    assert found.timeouts.dap_request_secs == 5
    assert found.timeouts.await_default_secs == 300
    assert found.adapters["debugpy"].args == ("-v",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[timeout]\n", "unknown key 'timeout'; did you mean 'timeouts'?"),
        ("[timeouts]\ndap_requests_secs = 1\n", "did you mean 'dap_request_secs'?"),
        ("[adapters.x]\npth = 1\n", "unknown key 'adapters.x.pth'; did you mean 'path'?"),
        ("[security]\nraw = 'maybe'\n", "maybe"),
        ("[timeouts]\ndap_request_secs = 0\n", "must be above 0"),
        ("[timeouts]\ndap_request_secs = nan\n", "must be above 0"),
        ("[timeouts]\ndap_request_secs = -inf\n", "must be above 0"),
        ("[output]\nmax_events = 1.5\n", "max_events"),
        ("[output]\nmax_traced = 0\n", "output.max_traced must be above 0"),
        ("[output]\nmax_traced_mb = -1\n", "output.max_traced_mb must be above 0"),
        ("[output]\nmax_trace = 5\n", "unknown key 'output.max_trace'; did you mean 'max_traced'"),
        ("adapters = 3\n", "adapters"),
        ("[[defaults]]\n", "defaults"),
        ("x", "config.toml"),
        ("a = " + "[" * 5000, "config.toml"),
        ("a = " + "1" * 5000, "config.toml"),
        (b"\xff\xfe", "config.toml"),
        ("a = 1979-05-27T07:32:00Z", "unknown key 'a'"),
        ("#" + "x" * (1 << 20), "over 1048576 bytes"),
    ],
)
def test_what_is_wrong_is_a_usage_error_that_names_it(file, text, told):
    with pytest.raises(DebuggerError) as refused:
        load(file, text)
    assert refused.value.code is ErrorCode.USAGE
    assert str(file) in refused.value.message
    assert told in refused.value.message


def test_a_directory_in_its_place_is_a_usage_error(tmp_path):
    with pytest.raises(DebuggerError) as refused:
        config.load_config({"DEBUGGER_CONFIG": str(tmp_path)})
    assert refused.value.code is ErrorCode.USAGE


def test_a_path_that_can_be_none_is_a_usage_error():
    with pytest.raises(DebuggerError) as refused:
        config.load_config({"DEBUGGER_CONFIG": "/x\0y"})
    assert refused.value.code is ErrorCode.USAGE


def test_an_empty_device_is_an_empty_file():
    assert config.load_config({"DEBUGGER_CONFIG": os.devnull}) == config.Config()


@pytest.mark.timeout(60)
def test_what_never_ends_is_not_read_to_its_end():
    with pytest.raises(DebuggerError, match="over 1048576 bytes"):
        config.load_config({"DEBUGGER_CONFIG": "/dev/zero"})


@pytest.mark.timeout(60)
def test_a_fifo_that_nobody_writes_to_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert config.load_config({"DEBUGGER_CONFIG": str(tmp_path / "fifo")}) == config.Config()


def test_every_setting_is_told_with_its_full_name(file):
    flat = dict(config.flatten_config(load(file, '[adapters.x]\npath = "/p"\n')))
    assert flat["adapters.x.path"] == "/p"
    assert flat["adapters.x.args"] == []
    assert flat["daemon.idle_timeout_minutes"] == 30


def test_a_known_adapter_on_the_path_is_configured(file, tmp_path):
    program = tmp_path / "bin" / "bash-dap"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    env = {"DEBUGGER_CONFIG": str(file), "PATH": str(program.parent)}
    assert config.load_config(env).adapters == {"bash-dap": config.KNOWN_ADAPTERS["bash-dap"]}
    file.write_text('[adapters.bash-dap]\ncommand = ["other"]\nlanguages = ["bash"]\n')
    assert config.load_config(env).adapters["bash-dap"].command == ("other",)


def test_a_command_on_a_started_program_does_not_search_the_path_again(file, tmp_path):
    program = tmp_path / "bash-dap"
    env = {"DEBUGGER_CONFIG": str(file), "PATH": str(tmp_path)}
    assert config.load_config(env).adapters == {}
    program.write_text("")
    program.chmod(0o755)
    assert config.load_config(env, finds_adapters=False).adapters == {}
    assert list(config.load_config(env).adapters) == ["bash-dap"]


def test_an_unchanged_configuration_is_completed_once(file, tmp_path):
    env = {"DEBUGGER_CONFIG": str(file), "PATH": str(tmp_path)}
    first = config.load_config(env, finds_adapters=False)
    assert config.load_config(env, finds_adapters=False) is first
    file.write_text("[daemon]\nidle_timeout_minutes = 5\n")
    assert config.load_config(env, finds_adapters=False).daemon.idle_timeout_minutes == 5


def test_a_section_without_a_command_completes_the_known_one(file):
    known = load(file, '[adapters.netcoredbg]\npath = "/opt/netcoredbg"\n').adapters["netcoredbg"]
    assert known.path == "/opt/netcoredbg"
    assert known.command == ("netcoredbg", "--interpreter=vscode")
