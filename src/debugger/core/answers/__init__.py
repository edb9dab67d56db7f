"""What commands answer: one value for each kind of answer, as the contract names its keys.

These are what `--json` puts under `data`; `render` makes text of them. Optional keys are absent
(UNSET) rather than null where the contract marks them so. Every list and value is already bounded
when it gets here; a count beside it says how many there were.
"""

from __future__ import annotations

from debugger.core.answers.calls import Calls, DecisionView, LifeView, RoundsView, StepView
from debugger.core.answers.diff import CountView, Diff, DifferenceView, HunkView, PointView
from debugger.core.answers.diff_probes import (
    DiffOfProbes,
    ProbedColumn,
    ProbedPair,
    ProbedPlace,
)
from debugger.core.answers.frames import (
    Assignment,
    Backtrace,
    Backtraces,
    Change,
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
from debugger.core.answers.hangs import Hang, HangGroup, LoopView, VariedView
from debugger.core.answers.installs import AdapterList, AdapterView, Installation
from debugger.core.answers.live import TRACED_MAX, Reading, Readings, TracedView, Traces
from debugger.core.answers.machine import (
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
from debugger.core.answers.path import EntryView, LineCount, Path, PlaceView, SuspectView, WayView
from debugger.core.answers.probe import (
    Probe,
    ProbeChange,
    ProbeColumn,
    ProbeCount,
    ProbePlace,
    ProbeRow,
)
from debugger.core.answers.questions import (
    CallerView,
    Crash,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
    ThreadGroup,
)
from debugger.core.answers.recorded import CallRow, RunView, ValueView, VaryView
from debugger.core.answers.runs import SavedRun, SavedRuns
from debugger.core.answers.stops import (
    AccessView,
    BreakpointList,
    BreakpointView,
    Crashed,
    ExceptionInfo,
    ExceptionView,
    OutputLine,
    Removed,
    Stop,
    Waiting,
    WatchedView,
)
from debugger.core.answers.system import (
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
from debugger.core.answers.test import FailedTest, MadeView, Tested
from debugger.core.answers.trying import Expected, Tried
from debugger.core.answers.writers import WhoWrote, WriterView

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
    | Readings
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
    "Change",
    "Check",
    "Children",
    "CountView",
    "Crash",
    "Crashed",
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
    "Installation",
    "InstructionView",
    "LifeView",
    "LineCount",
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
    "Reading",
    "Readings",
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
    "Waiting",
    "WatchedView",
    "WayView",
    "WhoWrote",
    "WriterView",
]
