"""What commands answer: one value for each kind of answer, as the contract names its keys.

These are what `--json` puts under `data`; `render` makes text of them. Optional keys are absent
(UNSET) rather than null where the contract marks them so. Every list and value is already bounded
when it gets here; a count beside it says how many there were.
"""

from __future__ import annotations

from debugger.model.answers.calls import Calls, DecisionView, LifeView, RoundsView, StepView
from debugger.model.answers.diff import CountView, Diff, DifferenceView, HunkView, PointView
from debugger.model.answers.diff_probes import DiffOfProbes, ProbedColumn, ProbedPair, ProbedPlace
from debugger.model.answers.frames import (
    Assignment,
    Backtrace,
    Backtraces,
    ChangedValue,
    Children,
    CurrentFrame,
    FrameView,
    Source,
    SourceLine,
    Threads,
    ThreadView,
    Value,
    Variables,
    VariableScope,
    VariableView,
)
from debugger.model.answers.hangs import Hang, HangGroup, LoopView, VariedView
from debugger.model.answers.installs import AdapterList, AdapterView, Installation
from debugger.model.answers.live import TRACED_MAX, LiveReading, LiveReadings, TracedView, Traces
from debugger.model.answers.machine import (
    Disassembled,
    InstructionView,
    MemoryRow,
    MemoryView,
    MemoryWritten,
    ModulesView,
    ModuleView,
    RegisterGroupView,
    RegistersView,
    RegisterView,
)
from debugger.model.answers.path import (
    EntryView,
    LineCount,
    Path,
    PlaceView,
    SuspectView,
    WayView,
)
from debugger.model.answers.probe import (
    Probe,
    ProbeChange,
    ProbeColumn,
    ProbeCount,
    ProbePlace,
    ProbeRow,
)
from debugger.model.answers.questions import (
    CallerView,
    Crash,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
    ThreadGroup,
)
from debugger.model.answers.recorded import CallRow, RunView, ValueView, VaryView
from debugger.model.answers.runs import SavedRun, SavedRuns
from debugger.model.answers.stops import (
    AccessView,
    BreakpointList,
    BreakpointView,
    CrashNote,
    ExceptionInfo,
    ExceptionView,
    IdleReason,
    OutputLine,
    Removed,
    Stop,
    WatchedView,
)
from debugger.model.answers.system import (
    Check,
    DaemonStatus,
    Doctor,
    Ended,
    Events,
    EventView,
    Output,
    Raw,
    Sessions,
    Setting,
    Settings,
    Status,
    Text,
)
from debugger.model.answers.test import FailedTest, MadeView, Tested
from debugger.model.answers.trying import Expected, Tried
from debugger.model.answers.writers import WhoWrote, WriterView

Answer = (
    Stop
    | Value
    | Assignment
    | Variables
    | Children
    | Source
    | Backtrace
    | Backtraces
    | CurrentFrame
    | Threads
    | BreakpointView
    | BreakpointList
    | Removed
    | Status
    | Sessions
    | Output
    | Events
    | Ended
    | Raw
    | Doctor
    | Settings
    | DaemonStatus
    | Text
    | ExceptionInfo
    | MemoryView
    | MemoryWritten
    | RegistersView
    | Disassembled
    | ModulesView
    | AdapterList
    | Installation
    | Crash
    | Hang
    | WhoWrote
    | Tested
    | Tried
    | EvidenceList
    | SavedRuns
    | EvidenceShown
    | EvidenceReport
    | Traces
    | Probe
    | LiveReadings
    | Path
    | Calls
    | Diff
    | DiffOfProbes
)

__all__ = [
    "TRACED_MAX",
    "AccessView",
    "AdapterList",
    "AdapterView",
    "Answer",
    "Assignment",
    "Backtrace",
    "Backtraces",
    "BreakpointList",
    "BreakpointView",
    "CallRow",
    "CallerView",
    "Calls",
    "ChangedValue",
    "Check",
    "Children",
    "CountView",
    "Crash",
    "CrashNote",
    "CurrentFrame",
    "DaemonStatus",
    "DecisionView",
    "Diff",
    "DiffOfProbes",
    "DifferenceView",
    "Disassembled",
    "Doctor",
    "Ended",
    "EntryView",
    "EventView",
    "Events",
    "EvidenceList",
    "EvidenceReport",
    "EvidenceShown",
    "EvidenceView",
    "ExceptionInfo",
    "ExceptionView",
    "Expected",
    "FailedTest",
    "FrameView",
    "Hang",
    "HangGroup",
    "HunkView",
    "IdleReason",
    "Installation",
    "InstructionView",
    "LifeView",
    "LineCount",
    "LiveReading",
    "LiveReadings",
    "LoopView",
    "MadeView",
    "MemoryRow",
    "MemoryView",
    "MemoryWritten",
    "ModuleView",
    "ModulesView",
    "Output",
    "OutputLine",
    "Path",
    "PlaceView",
    "PointView",
    "Probe",
    "ProbeChange",
    "ProbeColumn",
    "ProbeCount",
    "ProbePlace",
    "ProbeRow",
    "ProbedColumn",
    "ProbedPair",
    "ProbedPlace",
    "Raw",
    "RegisterGroupView",
    "RegisterView",
    "RegistersView",
    "Removed",
    "RoundsView",
    "RunView",
    "SavedRun",
    "SavedRuns",
    "Sessions",
    "Setting",
    "Settings",
    "Source",
    "SourceLine",
    "Status",
    "StepView",
    "Stop",
    "SuspectView",
    "Tested",
    "Text",
    "ThreadGroup",
    "ThreadView",
    "Threads",
    "TracedView",
    "Traces",
    "Tried",
    "Value",
    "ValueView",
    "VariableScope",
    "VariableView",
    "Variables",
    "VariedView",
    "VaryView",
    "WatchedView",
    "WayView",
    "WhoWrote",
    "WriterView",
]
