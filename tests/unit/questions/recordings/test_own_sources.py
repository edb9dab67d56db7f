"""Which sources of a program are the user's own."""

from pathlib import Path

import pytest

from debugger.questions.recordings import traced_run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make a project whose program is said to be made of given sources."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text("fn main() {}\n")

    def own(*sources: str, cwd: str = "/elsewhere") -> list[str]:
        monkeypatch.setattr(traced_run, "sources_of", lambda _: sources)
        return traced_run.own_sources(str(tmp_path / "target" / "debug" / "app"), cwd)

    return own


def test_a_relative_source_is_found_from_the_programs_own_folders(project, tmp_path: Path):
    assert project("src/main.rs") == [str(tmp_path / "src" / "main.rs")]


def test_a_relative_source_of_a_library_is_left_out(project, tmp_path: Path):
    sources = ("src/lib.rs", "src/main.rs", "library/std/src/io.rs", "/rust/deps/gimli/src/x.rs")

    assert project(*sources) == [str(tmp_path / "src" / "main.rs")]


def test_where_no_source_exists_here_all_but_the_libraries_are_listed(project):
    assert project("main.c", "library/core/src/fmt/mod.rs") == ["main.c"]
