"""The run to a crash that looks for freed memory is the first one of the value's chain, too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from debugger.questions.why import freed_block, native_runs
from debugger.questions.why.native_runs import NativeRuns, plan_survey
from debugger.questions.why.traced_run import EndPlan, TracePlan, TraceResult
from debugger.questions.why.why_request import WhyRequest

QUESTION = cast("Any", SimpleNamespace(patience=SimpleNamespace(seconds=9.0)))
REACHED = TraceResult(reached=True, seconds=0.1)


def _record_plans(monkeypatch: pytest.MonkeyPatch, module: object) -> list[TracePlan]:
    plans: list[TracePlan] = []

    async def run_traced(_call: object, _question: object, plan: TracePlan, **_: object) -> Any:
        plans.append(plan)
        return REACHED

    monkeypatch.setattr(module, "run_traced", run_traced)
    return plans


@pytest.mark.parametrize(
    ("given", "runs"), [(REACHED, 0), (TraceResult(reached=False), 1), (None, 1)]
)
async def test_a_chain_begins_with_a_run_that_has_come_to_the_crash(
    monkeypatch: pytest.MonkeyPatch, given: TraceResult | None, runs: int
) -> None:
    plans = _record_plans(monkeypatch, native_runs)
    request = WhyRequest("p->next", "crash", survey=given)
    chain = NativeRuns(cast("Any", None), QUESTION, request)
    assert (await chain.run_survey()).reached
    assert len(plans) == runs


async def test_the_search_for_freed_memory_runs_by_the_chains_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans = _record_plans(monkeypatch, freed_block)
    plan = plan_survey(WhyRequest("p->next", "crash"), EndPlan("crash"))
    found = await freed_block.find_freed_block(
        cast("Any", None), QUESTION, "p->next", None, seconds=9.0, plan=plan
    )
    assert found == (None, REACHED)
    assert [(one.expression, one.heap, one.calls > 0) for one in plans] == [("p->next", True, True)]
