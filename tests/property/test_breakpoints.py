"""The registry of breakpoints agrees with a model, whatever is requested and answered."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from debugger.model.breakpoints import BoundBreakpoint, Breakpoints, BreakpointSpec

SPECS = st.one_of(
    st.builds(
        BreakpointSpec,
        file=st.sampled_from(["/a.c", "/b.c"]),
        line=st.integers(1, 4),
        condition=st.sampled_from([None, "x"]),
        thread=st.sampled_from([None, 1]),
    ),
    st.builds(BreakpointSpec, function=st.sampled_from(["f", "g"])),
)


class WantedBreakpoints(RuleBasedStateMachine):
    """`model` maps the ids of the user's breakpoints to what is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.known = Breakpoints()
        self.model: dict[int, BreakpointSpec] = {}
        self.given: set[int] = set()
        self.backend_ids = 0
        self.sent: list = []

    def pick(self, at: int) -> int:
        return sorted(self.model)[at % len(self.model)]

    @rule(spec=SPECS)
    def add(self, spec):
        same = [n for n, one in self.model.items() if one == spec]
        added = self.known.add(spec)
        if same:
            assert added.id == min(same)
        else:
            assert added.id not in self.given
            assert added.bound is None
        self.given.add(added.id)
        self.model[added.id] = spec

    @rule(spec=SPECS)
    def add_ours(self, spec):
        assert self.known.add(spec, internal=True).id < 0

    @precondition(lambda self: self.model)
    @rule(at=st.integers(0, 50))
    def remove(self, at):
        number = self.pick(at)
        assert self.known.remove(number).id == number
        assert self.known.remove(number) is None
        del self.model[number]

    @precondition(lambda self: self.model)
    @rule(at=st.integers(0, 50), on=st.booleans())
    def enable(self, at, on):
        number = self.pick(at)
        changed = self.known.enable(number, on=on)
        self.model[number] = changed.spec
        assert changed.spec.enabled is on

    @precondition(lambda self: self.model)
    @rule(at=st.integers(0, 50), moved=st.integers(0, 2))
    def put(self, at, moved):
        number = self.pick(at)
        spec = self.model[number]
        if spec.line is None:
            self.known.set_location(number, spec)
        elif moved == 2:
            self.known.set_location(number, BoundBreakpoint(verified=False, why="no code"))
        else:
            self.known.set_location(number, BreakpointSpec(file=spec.file, line=spec.line + moved))

    @rule()
    def send(self):
        """Send a list, whose answers may come much later."""
        for at in self.known.list_representatives():
            listed = self.known.same_list(at)
            assert [one.id for one in listed] == sorted(one.id for one in listed)
            assert all(one.spec.enabled and one.at is not None for one in listed)
            self.sent.append(listed)

    @precondition(lambda self: self.sent)
    @rule(missing=st.integers(0, 2))
    def answer(self, missing):
        listed = self.sent.pop()
        bounds = []
        for _ in listed[: len(listed) - missing]:
            self.backend_ids += 1
            bounds.append(BoundBreakpoint(verified=True, backend_id=self.backend_ids))
        before = {one.id: one for one in self.known.all_breakpoints()}
        self.known.take_answers(listed, bounds)
        for wanted, bound in zip(listed, bounds, strict=False):
            now = {one.id: one for one in self.known.all_breakpoints()}.get(wanted.id)
            if now is not None and before[wanted.id].at == wanted.at:
                assert now.bound == bound
                assert self.known.by_backend_id(bound.backend_id).id == wanted.id

    @rule(number=st.one_of(st.none(), st.integers(0, 60)))
    def late(self, number):
        bound = BoundBreakpoint(verified=True, backend_id=number, line=99)
        known = None if number is None else self.known.by_backend_id(number)
        changed = self.known.update_bound(bound)
        assert (changed is None) == (known is None)
        if changed is not None:
            assert (changed.id, changed.bound) == (known.id, bound)

    @rule()
    def restart(self):
        self.known.forget_answers()
        assert all(one.bound is None and one.at is None for one in self.known.all_breakpoints())
        assert all(one.id > 0 for one in self.known.all_breakpoints())

    @invariant()
    def it_lists_what_is_wanted_in_the_order_of_ids(self):
        listed = self.known.user_breakpoints()
        assert {one.id: one.spec for one in listed} == self.model
        assert [one.id for one in listed] == sorted(self.model)


TestWanted = WantedBreakpoints.TestCase
TestWanted.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
