"""The members of a group as cells, and the sessions that can be chosen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from debugger.tui.group_members import GroupMember, build_grid
from debugger.tui.group_watch import find_group, list_choices

STATES = st.sampled_from(["stopped", "running", "ended", "initializing", "killed by SIGSEGV"])


def members_of(*states: str) -> list[GroupMember]:
    return [GroupMember(str(at), f"job.{at}", state) for at, state in enumerate(states)]


def test_what_ended_badly_comes_first_and_what_is_over_last():
    grid = build_grid(members_of("ended", "running", "killed by SIGSEGV", "stopped", "running"), 80)
    headings = [row.heading for row in grid.rows if row.heading]
    assert headings == ["1 killed by SIGSEGV", "1 stopped", "2 running", "1 ended"]
    assert [one.label for one in grid.members] == ["2", "3", "1", "4", "0"]


@given(st.lists(STATES, min_size=1, max_size=80), st.integers(min_value=0, max_value=120))
def test_each_member_has_one_cell_and_arrows_stay_within(states: list[str], width: int):
    grid = build_grid(members_of(*states), width)
    cells = [at for row in grid.rows for at in row.cells]
    assert cells == list(range(len(states)))
    assert all(len(row.cells) * grid.cell_width <= max(width, grid.cell_width) for row in grid.rows)
    for at in cells:
        below = grid.step(at, down=1)
        assert below == at or grid.row_of(below) > grid.row_of(at)


def test_a_group_is_found_by_any_member_and_chosen_by_its_first():
    overview = {
        "sessions": [{"session": name, "state": "running"} for name in ("job", "job.1", "app")],
        "groups": [{"group": "job", "sessions": ["job", "job.1"]}],
    }
    found = find_group(overview, "job.1")
    assert found is not None
    assert (found.name, found.states) == ("job", {"job": "running", "job.1": "running"})
    assert find_group(overview, "app") is None
    assert list_choices(overview) == ["job", "app"]
