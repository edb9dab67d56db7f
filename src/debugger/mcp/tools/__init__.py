"""The tools by toolset: ours, those of XcodeBuildMCP, and all of them."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.mcp.tool import Toolset
from debugger.mcp.tools import (
    beginning,
    breakpoints,
    doctor,
    evidence,
    looking,
    probing,
    questions,
    recorded,
    running,
    testing,
    timeline,
    trying,
    values,
    waiting,
    xcode,
    xcode_attach,
    xcode_defaults,
)

# What answers a question in one call comes first: whoever asks it needs no session.
QUESTIONS = Toolset(
    one
    for part in (questions, testing, probing, recorded, waiting, trying, evidence)
    for one in part.TOOLS
)
_STEPPING = (beginning, breakpoints, running, looking, values, timeline)
CORE = Toolset(
    [*QUESTIONS, *(one for part in _STEPPING for one in part.TOOLS)],
    brief=True,
)
# Without Xcode, or to wait for a stop, its user needs two of ours.
XCODEBUILDMCP = Toolset(
    [
        *xcode_attach.TOOLS,
        *xcode.TOOLS,
        *xcode_defaults.TOOLS,
        *doctor.TOOLS,
        *(one for one in beginning.TOOLS if one.name in {"debug_attach", "debug_session"}),
    ]
)
TOOLSETS: Mapping[str, Toolset] = {
    "core": CORE,
    "xcodebuildmcp": XCODEBUILDMCP,
    "all": CORE | XCODEBUILDMCP,
}
