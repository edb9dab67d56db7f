"""The tools by toolset: ours, those of XcodeBuildMCP, and all of them."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.mcp.tool_definition import Toolset
from debugger.mcp.tools import (
    breakpoint_tools,
    doctor_tool,
    inspection_tools,
    question_tools,
    session_tools,
    xcode_session,
    xcode_tools,
)

# What answers a question in one call comes first: whoever asks it needs no session.
QUESTIONS = Toolset(
    one
    for part in (
        question_tools,
        question_tools,
        question_tools,
        question_tools,
        question_tools,
        question_tools,
        question_tools,
    )
    for one in part.TOOLS
)
_STEPPING = (
    session_tools,
    breakpoint_tools,
    session_tools,
    inspection_tools,
    inspection_tools,
    inspection_tools,
)
CORE = Toolset(
    [*QUESTIONS, *(one for part in _STEPPING for one in part.TOOLS)],
    brief=True,
)
# Without Xcode, or to wait for a stop, its user needs two of ours.
XCODEBUILDMCP = Toolset(
    [
        *xcode_session.TOOLS,
        *xcode_tools.TOOLS,
        *xcode_session.TOOLS,
        *doctor_tool.TOOLS,
        *(one for one in session_tools.TOOLS if one.name in {"debug_attach", "debug_session"}),
    ]
)
TOOLSETS: Mapping[str, Toolset] = {
    "core": CORE,
    "xcodebuildmcp": XCODEBUILDMCP,
    "all": CORE | XCODEBUILDMCP,
}
