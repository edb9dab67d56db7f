"""Formats each kind of answer as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from debugger.core import answers
from debugger.render import (
    breakpoints,
    calls,
    diff,
    diff_probes,
    frames,
    hangs,
    installs,
    live,
    machine,
    path,
    probe,
    questions,
    runs,
    sessions,
    stop,
    stream,
    terminal,
    test,
    trying,
    variables,
    writers,
)
from debugger.render.budget import Section, fit
from debugger.render.page import CHARACTERS_A_TOKEN, Page, Style
from debugger.render.values import harmless

_SECTIONS: Mapping[type, Callable[[Any, Page], list[Section]]] = {
    answers.Stop: stop.sections,
    answers.Value: variables.value,
    answers.Assignment: variables.assignment,
    answers.Variables: variables.variables,
    answers.Children: variables.children,
    answers.Source: frames.source,
    answers.Backtrace: frames.backtrace,
    answers.Backtraces: frames.backtraces,
    answers.CurrentFrame: frames.current_frame,
    answers.Threads: frames.threads,
    answers.BreakpointView: breakpoints.breakpoint_,
    answers.BreakpointList: breakpoints.breakpoint_list,
    answers.Removed: breakpoints.removed,
    answers.Status: sessions.status,
    answers.Sessions: sessions.sessions,
    answers.Output: stream.output,
    answers.Events: stream.events,
    answers.Ended: sessions.ended,
    answers.Raw: stream.raw,
    answers.Doctor: sessions.doctor,
    answers.Settings: sessions.settings,
    answers.AdapterList: installs.adapters,
    answers.Installation: installs.installation,
    answers.DaemonStatus: sessions.daemon_status,
    answers.Text: stream.text,
    answers.MemoryView: machine.memory,
    answers.MemoryWritten: machine.written,
    answers.RegistersView: machine.registers,
    answers.Disassembled: machine.disassembled,
    answers.ModulesView: machine.modules,
    answers.ExceptionInfo: machine.exception,
    answers.Crash: questions.crash,
    answers.Hang: hangs.hang,
    answers.WhoWrote: writers.who_wrote,
    answers.Tested: test.tested,
    answers.Tried: trying.tried,
    answers.EvidenceList: questions.evidence_list,
    answers.SavedRuns: runs.saved_runs,
    answers.EvidenceShown: questions.evidence_shown,
    answers.EvidenceReport: questions.evidence_report,
    answers.Traces: live.traces,
    answers.Probe: probe.probe,
    answers.Readings: live.readings,
    answers.Path: path.path,
    answers.Calls: calls.calls,
    answers.Diff: diff.diff,
    answers.DiffOfProbes: diff_probes.diff_of_probes,
}


def text(answer: answers.Answer, *, budget: int, style: Style, width: int, folder: str = "") -> str:
    """Return an answer's text, without a newline at its end.

    `budget` is in tokens of four characters, and never exceeded; colour does not count. `width` is
    in columns, for tables. `folder` is the reader's, from which files below it are named.
    """
    limit = CHARACTERS_A_TOKEN * max(budget, 0)
    page = Page(style=style, width=width, limit=limit, folder=folder)
    sections = [_harmless(one, page) for one in _SECTIONS[type(answer)](answer, page)]
    shown = fit(sections, page.limit)
    return terminal.paint(shown) if page.is_terminal else shown


def _harmless(section: Section, page: Page) -> Section:
    """Let no control character through that a part of an answer has not escaped itself."""

    def lay(kept: int) -> str:
        return harmless(section.lay(kept), has_colours=page.is_terminal)

    return replace(section, lay=lay)
