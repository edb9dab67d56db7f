"""The exit status of a probe says whether the run came to any of its places."""

from __future__ import annotations

import pytest

from debugger.questions.probe.answer import Probe, ProbeColumn, ProbePlace

_REFUSED = (ProbeColumn("total"),)


@pytest.mark.parametrize(
    ("place", "has_failed"),
    [
        (ProbePlace("a.c:4", ()), True),
        (ProbePlace("a.c:4", (), hits=2), False),
        (ProbePlace("a.c:4", (), when="n > 9", passed=3), False),
        (ProbePlace("a.c:4", (), when="n > 9", refused=_REFUSED), False),
    ],
)
def test_a_probe_whose_places_were_never_reached_has_failed(
    place: ProbePlace, *, has_failed: bool
) -> None:
    assert Probe("exited", (place,)).has_failed is has_failed
    assert not Probe("running", (place,), timed_out=True).has_failed
