"""An adapter of the user's own gets no breakpoint options that it does not claim to know."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.dap.dap_breakpoints import check_options
from debugger.backends.dap.messages import AdapterCapabilities
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint, BreakpointSpec


def check(spec: BreakpointSpec, *, is_own: bool = True, **claimed: bool) -> None:
    talk: Any = SimpleNamespace(client=SimpleNamespace(capabilities=AdapterCapabilities(**claimed)))
    adapter: Any = SimpleNamespace(name="own", claims_breakpoint_options=is_own)
    check_options(talk, adapter, [Breakpoint(1, spec)])


@pytest.mark.parametrize(
    ("option", "capability", "what"),
    [
        ({"condition": "n > 1"}, "supports_conditional_breakpoints", "conditions"),
        ({"hit_count": 2}, "supports_hit_conditional_breakpoints", "hit counts"),
        ({"log": "{n}"}, "supports_log_points", "log messages"),
    ],
)
def test_an_option_that_is_not_claimed_is_refused(
    option: dict[str, Any], capability: str, what: str
) -> None:
    spec = BreakpointSpec(file="/a.x", line=3, **option)
    with pytest.raises(DebuggerError) as raised:
        check(spec)
    assert raised.value.code is ErrorCode.NOT_SUPPORTED
    assert f"own does not claim to know {what}" in raised.value.message
    check(spec, **{capability: True})
    check(spec, is_own=False)  # of the others it is known from trying them
    check(BreakpointSpec(file="/a.x", line=3))
