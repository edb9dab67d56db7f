"""The hint of `start` without a program names what the folder has."""

from __future__ import annotations

from pathlib import Path

from debugger.targets import launch_target


def _hint(folder: Path) -> str:
    return launch_target._program_hint(str(folder), str(folder))


def test_a_cargo_project_has_its_newest_program_or_is_to_be_built(tmp_path: Path):
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    assert _hint(tmp_path) == "cargo build; then debugger start target/debug/NAME"
    built = tmp_path / "target" / "debug" / "tool"
    built.parent.mkdir(parents=True)
    built.write_text("")
    built.chmod(0o755)
    (built.parent / "tool.d").write_text("")
    assert _hint(tmp_path) == "debugger start target/debug/tool, which cargo build writes"


def test_a_go_module_is_started_by_its_folder_or_a_command_s(tmp_path: Path):
    command = tmp_path / "cmd" / "serve" / "main.go"
    command.parent.mkdir(parents=True)
    command.write_text("package main\n\nfunc main() {}\n")
    assert _hint(tmp_path) == "debugger start ./cmd/serve"
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    assert _hint(tmp_path) == "debugger start ."


def test_another_folder_names_what_can_be_started(tmp_path: Path):
    assert _hint(tmp_path).startswith("debugger start PROGRAM")
