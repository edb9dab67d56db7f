"""Collects the toolsets: core, XcodeBuildMCP's, and both together."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.mcp.tool_definition import Toolset
from debugger.mcp.tools import (
    breakpoint_tools,
    inspection_tools,
    question_tools,
    session_tools,
    xcode_session,
    xcode_tools,
)

# What answers a question in one call comes first: whoever asks it needs no session.
QUESTIONS = question_tools.TOOLS
CORE = Toolset(
    [
        *QUESTIONS,
        *(
            tool
            for module in (session_tools, breakpoint_tools, inspection_tools)
            for tool in module.TOOLS
        ),
    ],
    brief=True,
)
# Without Xcode, or to wait for a stop, its user needs two of ours.
XCODEBUILDMCP = Toolset(
    [
        *xcode_session.TOOLS,
        *xcode_tools.TOOLS,
        *(tool for tool in session_tools.TOOLS if tool.name in {"debug_attach", "debug_session"}),
    ]
)
TOOLSETS: Mapping[str, Toolset] = {
    "core": CORE,
    "xcodebuildmcp": XCODEBUILDMCP,
    "all": CORE | XCODEBUILDMCP,
}
