"""The tools by toolset: ours, those of XcodeBuildMCP, and all of them."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.mcp.tool import Toolset
from debugger.mcp.tools import (
    beginning,
    breakpoints,
    doctor,
    looking,
    probing,
    questions,
    recorded,
    running,
    timeline,
    values,
    waiting,
    xcode,
    xcode_attach,
    xcode_defaults,
)

CORE = Toolset(
    one
    for part in (beginning, breakpoints, running, looking, values, timeline, questions)
    for one in part.TOOLS
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
# Questions that are asked less often than there is room for in the core listing.
MORE = Toolset(one for part in (recorded, probing, waiting) for one in part.TOOLS)
TOOLSETS: Mapping[str, Toolset] = {
    "core": CORE,
    "xcodebuildmcp": XCODEBUILDMCP,
    "all": CORE | XCODEBUILDMCP | MORE,
}
