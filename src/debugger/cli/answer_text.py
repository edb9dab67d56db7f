"""Formats each kind of answer as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from debugger.model import answers
from debugger.output import (
    breakpoint_text,
    frame_text,
    machine_text,
    session_text,
    stop_text,
    stream_text,
    terminal,
    variable_text,
)
from debugger.output.location_text import escape_controls
from debugger.output.structured import (
    CHARACTERS_A_TOKEN,
    OutputStyle,
    RenderPage,
    TextSection,
    fit_sections,
)
from debugger.questions.adapter_suite import render as adapter_suite_render
from debugger.questions.adapter_suite.answer import AdapterSuite
from debugger.questions.calls import render as calls_render
from debugger.questions.calls.answer import Calls
from debugger.questions.crash import render as crash_render
from debugger.questions.diff import render as diff_render
from debugger.questions.diff import render_probes as diff_render_probes
from debugger.questions.diff.answer import Diff, DiffOfProbes
from debugger.questions.group import render as group_render
from debugger.questions.group.answer import (
    GroupCrash,
    GroupHang,
    GroupStacks,
    GroupStatus,
    GroupStop,
    GroupValues,
    JoinedMember,
    MemberBranches,
    MemberProbes,
    RemoteShellEnd,
)
from debugger.questions.hang import render as hang_render
from debugger.questions.hang.answer import Hang
from debugger.questions.holds import render as holds_render
from debugger.questions.holds.answer import Holds
from debugger.questions.path import render as path_render
from debugger.questions.path.answer import PathAnswer
from debugger.questions.probe import render as probe_render
from debugger.questions.probe.answer import Probe
from debugger.questions.recordings import run_text
from debugger.questions.recordings.answer import SavedRuns
from debugger.questions.runner.answer import (
    Crash,
    EvidenceDrawing,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
)
from debugger.questions.test import render as test_render
from debugger.questions.test.answer import SuiteAnswer
from debugger.questions.try_change import render as try_change_render
from debugger.questions.try_change.answer import Tried
from debugger.questions.who_wrote import render as who_wrote_render
from debugger.questions.who_wrote.answer import WhoWrote
from debugger.questions.why import render as why_render
from debugger.questions.why.answer import Why

FORMATTERS: Mapping[type, Callable[[Any, RenderPage], list[TextSection]]] = {
    answers.Stop: stop_text.stop_sections,
    answers.Value: variable_text.format_value,
    answers.Assignment: variable_text.format_assignment,
    answers.Variables: variable_text.format_variables,
    answers.Children: variable_text.format_children,
    answers.Source: frame_text.format_source,
    answers.Backtrace: frame_text.format_backtrace,
    answers.Backtraces: frame_text.format_backtraces,
    answers.CurrentFrame: frame_text.current_frame,
    answers.Threads: frame_text.format_threads,
    answers.BreakpointView: breakpoint_text.format_breakpoint,
    answers.BreakpointList: breakpoint_text.breakpoint_list,
    answers.Removed: breakpoint_text.format_removed,
    answers.Status: session_text.format_status,
    answers.Sessions: session_text.format_sessions,
    answers.LaunchConfigurations: session_text.format_configurations,
    answers.Output: stream_text.format_output,
    answers.Events: stream_text.format_events,
    answers.HostReplies: session_text.format_host_replies,
    answers.Ended: session_text.format_ended,
    answers.Raw: stream_text.format_raw,
    answers.Doctor: session_text.format_doctor,
    answers.Settings: session_text.format_settings,
    answers.AdapterList: session_text.format_adapters,
    answers.Installation: session_text.format_installation,
    answers.DaemonStatus: session_text.daemon_status,
    answers.Text: stream_text.format_sentence,
    answers.MemoryView: machine_text.format_memory,
    answers.MemoryWritten: machine_text.format_written,
    answers.RegistersView: machine_text.format_registers,
    answers.Disassembled: machine_text.format_disassembled,
    answers.ModulesView: machine_text.format_modules,
    answers.ExceptionInfo: machine_text.format_exception,
    Crash: crash_render.format_crash,
    Hang: hang_render.format_hang,
    WhoWrote: who_wrote_render.who_wrote,
    Why: why_render.format_why,
    Holds: holds_render.format_holds,
    SuiteAnswer: test_render.format_tested,
    Tried: try_change_render.format_tried,
    EvidenceList: crash_render.evidence_list,
    SavedRuns: run_text.saved_runs,
    EvidenceShown: crash_render.evidence_shown,
    EvidenceDrawing: crash_render.evidence_drawing,
    EvidenceReport: crash_render.evidence_report,
    answers.Traces: variable_text.format_traces,
    Probe: probe_render.format_probe,
    AdapterSuite: adapter_suite_render.format_suite,
    answers.LiveReadings: variable_text.format_readings,
    PathAnswer: path_render.format_path,
    Calls: calls_render.format_calls,
    Diff: diff_render.format_diff,
    DiffOfProbes: diff_render_probes.diff_of_probes,
    GroupStacks: group_render.format_stacks,
    GroupValues: group_render.format_values,
    GroupStop: group_render.format_group_stop,
    GroupStatus: group_render.format_group_status,
    GroupHang: group_render.format_group_hang,
    MemberBranches: group_render.format_member_branches,
    MemberProbes: group_render.format_member_probes,
    GroupCrash: group_render.format_group_crash,
    JoinedMember: group_render.format_joined_member,
    RemoteShellEnd: group_render.format_remote_shell,
}


def format_answer(
    answer: answers.Answer, *, budget: int, style: OutputStyle, width: int, folder: str = ""
) -> str:
    """Format an answer as text, without a newline at its end.

    `budget` is in tokens of four characters, and never exceeded; colour does not count. `width` is
    in columns, for tables. `folder` is the reader's: paths of files below it are relative to it.
    """
    limit = CHARACTERS_A_TOKEN * max(budget, 0)
    page = RenderPage(style=style, width=width, limit=limit, folder=folder)
    sections = [_escape_section(one, page) for one in FORMATTERS[type(answer)](answer, page)]
    shown = fit_sections(sections, page.limit)
    return terminal.colour_text(shown) if page.is_terminal else shown


def _escape_section(section: TextSection, page: RenderPage) -> TextSection:
    """Escape control characters that a section has not escaped itself."""

    def fit_text(most: int) -> str:
        return escape_controls(section.fit_text(most), has_colours=page.is_terminal)

    return TextSection(fit_text, section.count, section.rank, section.floor)
