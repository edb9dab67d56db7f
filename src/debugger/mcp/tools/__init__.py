"""The tools by toolset: ours, those of XcodeBuildMCP, and all of them."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.mcp.tool_definition import Toolset
from debugger.mcp.tools import (
    breakpoint_tools,
    doctor_tool,
    evidence_tool,
    hang_tools,
    inspection_tools,
    probe_tool,
    question_tools,
    recording_tools,
    running_tools,
    session_tools,
    test_tool,
    timeline_tool,
    trial_tool,
    value_tools,
    xcode_attach,
    xcode_defaults,
    xcode_tools,
)

# What answers a question in one call comes first: whoever asks it needs no session.
QUESTIONS = Toolset(
    one
    for part in (
        question_tools,
        test_tool,
        probe_tool,
        recording_tools,
        hang_tools,
        trial_tool,
        evidence_tool,
    )
    for one in part.TOOLS
)
_STEPPING = (
    session_tools,
    breakpoint_tools,
    running_tools,
    inspection_tools,
    value_tools,
    timeline_tool,
)
CORE = Toolset(
    [*QUESTIONS, *(one for part in _STEPPING for one in part.TOOLS)],
    brief=True,
)
# Without Xcode, or to wait for a stop, its user needs two of ours.
XCODEBUILDMCP = Toolset(
    [
        *xcode_attach.TOOLS,
        *xcode_tools.TOOLS,
        *xcode_defaults.TOOLS,
        *doctor_tool.TOOLS,
        *(one for one in session_tools.TOOLS if one.name in {"debug_attach", "debug_session"}),
    ]
)
TOOLSETS: Mapping[str, Toolset] = {
    "core": CORE,
    "xcodebuildmcp": XCODEBUILDMCP,
    "all": CORE | XCODEBUILDMCP,
}
