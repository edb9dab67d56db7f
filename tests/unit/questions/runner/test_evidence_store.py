"""Evidence is kept within bounds, and is stale when its sources change."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner import evidence_store as module
from debugger.questions.runner.evidence_store import EvidenceStore


@pytest.fixture
def kept_evidence() -> EvidenceStore:
    return EvidenceStore(lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))


def keep(kept: EvidenceStore, text: str = "crash: x", files: tuple[str, ...] = ()) -> str:
    words = ("debugger", "crash", "--", "./a b")
    return kept.keep_answer(words, "/here", summary="x", text=text, files=files)


def test_each_answer_gets_the_next_number(kept_evidence: EvidenceStore) -> None:
    assert [keep(kept_evidence), keep(kept_evidence)] == ["e1", "e2"]
    assert [one.id for one in kept_evidence.list_answers().evidence] == ["e1", "e2"]
    assert kept_evidence.show_answer("2").evidence.command == "debugger crash -- './a b'"


def test_the_oldest_give_way(kept_evidence: EvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_MAX", 3)
    for _ in range(5):
        keep(kept_evidence)
    assert [one.id for one in kept_evidence.list_answers().evidence] == ["e3", "e4", "e5"]
    assert kept_evidence.list_answers().dropped == 2
    monkeypatch.setattr(module, "BYTES_MAX", 20)
    keep(kept_evidence, "y" * 15)
    assert [one.id for one in kept_evidence.list_answers().evidence] == ["e6"]


def test_a_changed_file_makes_it_stale_and_a_touched_one_does_not(
    kept_evidence: EvidenceStore, tmp_path: Path
) -> None:
    file = tmp_path / "a.c"
    file.write_text("one\n")
    number = keep(kept_evidence, files=(str(file), str(tmp_path / "nowhere.c")))
    assert kept_evidence.show_answer(number).evidence.files == (str(file),)
    os.utime(file, (1, 1))
    assert kept_evidence.show_answer(number).evidence.stale == ()
    file.write_text("two\n")
    assert kept_evidence.show_answer(number).evidence.stale == (str(file),)
    file.unlink()
    assert kept_evidence.show_answer(number).evidence.stale == (str(file),)


def test_what_is_not_there_is_said_with_what_is(kept_evidence: EvidenceStore) -> None:
    keep(kept_evidence)
    with pytest.raises(DebuggerError) as caught:
        kept_evidence.show_answer("e9")
    assert caught.value.code is ErrorCode.NOT_FOUND
    assert "there is: e1" in caught.value.message


def test_the_report_has_the_commands_and_no_text_ends_its_fence(
    kept_evidence: EvidenceStore,
) -> None:
    keep(kept_evidence, "before\n````\nafter")
    text = kept_evidence.write_report().text
    assert "cd /here\ndebugger crash -- './a b'" in text
    assert "`````text\nbefore\n````\nafter\n`````" in text


def test_without_evidence_there_is_no_report(kept_evidence: EvidenceStore) -> None:
    with pytest.raises(DebuggerError):
        kept_evidence.write_report()
