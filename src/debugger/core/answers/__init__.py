"""What commands answer: one value for each kind of answer, as the contract names its keys.

These are what `--json` puts under `data`; `render` makes text of them. Optional keys are absent
(UNSET) rather than null where the contract marks them so. Every list and value is already bounded
when it gets here; a count beside it says how many there were.
"""

from __future__ import annotations

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
    VariableView,
)
from debugger.core.answers.installs import AdapterList, AdapterView, Installation
from debugger.core.answers.live import Reading, Readings, TracedView, Traces
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
from debugger.core.answers.questions import (
    CallerView,
    Crash,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
    ThreadGroup,
)
from debugger.core.answers.stops import (
    BreakpointList,
    BreakpointView,
    Crashed,
    ExceptionInfo,
    ExceptionView,
    OutputLine,
    Removed,
    Stop,
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
    | EvidenceList
    | EvidenceShown
    | EvidenceReport
    | Traces
    | Readings
)

__all__ = [
    "AdapterList",
    "AdapterView",
    "Answer",
    "Assignment",
    "Backtrace",
    "Backtraces",
    "BreakpointList",
    "BreakpointView",
    "CallerView",
    "Change",
    "Check",
    "Children",
    "Crash",
    "Crashed",
    "CurrentFrame",
    "DaemonStatus",
    "Disassembled",
    "Doctor",
    "Ended",
    "EventView",
    "Events",
    "EvidenceList",
    "EvidenceReport",
    "EvidenceShown",
    "EvidenceView",
    "ExceptionInfo",
    "ExceptionView",
    "FrameView",
    "Installation",
    "InstructionView",
    "MemoryRow",
    "MemoryView",
    "MemoryWritten",
    "ModuleView",
    "ModulesView",
    "Output",
    "OutputLine",
    "Raw",
    "Reading",
    "Readings",
    "RegisterGroupView",
    "RegisterView",
    "RegistersView",
    "Removed",
    "Sessions",
    "Setting",
    "Settings",
    "Source",
    "SourceLine",
    "Status",
    "Stop",
    "Text",
    "ThreadGroup",
    "ThreadView",
    "Threads",
    "TracedView",
    "Traces",
    "Value",
    "VariableView",
    "Variables",
    "WatchedView",
]
