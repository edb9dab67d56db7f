"""The tools by toolset: ours, those of XcodeBuildMCP, and all of them."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.mcp.tool import Toolset
from debugger.mcp.tools import beginning, breakpoints, looking, running, timeline, values

CORE = Toolset(
    one
    for part in (beginning, breakpoints, running, looking, values, timeline)
    for one in part.TOOLS
)
TOOLSETS: Mapping[str, Toolset] = {"core": CORE}
