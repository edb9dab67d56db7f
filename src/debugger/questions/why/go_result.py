"""Finds the result of a call of Go that no variable keeps: the sites that give it, and its value.

Of `store.Find(key).Rows` with a nil pointer it is `store.Find(key)`, as a crash names it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from debugger.questions.why import go_called, go_chain, go_expressions, go_plan
from debugger.questions.why.go_chain import Activation
from debugger.questions.why.go_run import GoRecord
from debugger.questions.why.go_source import GoSite, GoSourceFunction, GoSources, SiteKind


class CallResult(Struct, frozen=True):
    """A call in the statement that failed, and the site of its line."""

    text: str
    site: GoSite
    functions: tuple[GoSourceFunction, ...]

    def plan_sites(self, sources: GoSources) -> list[GoSite]:
        """Return the lines that may give the result, after that of the call itself."""
        found: dict[GoSite, None] = {self.site: None}
        reads = list(go_plan.read_by_value(sources, self.site.function, self.text, found))
        for function, expression in reads:
            found |= dict.fromkeys(go_plan.plan_sites(sources, function, expression))
        # What is reached behind another line with a call is of a later one.
        found |= dict.fromkeys(sources.calls_in(self.site.function))
        places: dict[tuple[str, int, SiteKind], GoSite] = {}
        for one in found:
            places.setdefault((one.file, one.line, one.kind), one)
        return list(places.values())[: go_plan.SITES_MAX]

    def find_call(self, records: Sequence[GoRecord], activation: Activation) -> Activation:
        """Return the call of the function with the record of the failed line, if it was seen."""
        own = [
            one
            for one in records
            if one.site == self.site
            and (one.goroutine, one.depth) == (activation.goroutine, activation.depth)
        ]
        return msgspec.structs.replace(activation, record=own[-1]) if own else activation

    def read_value(self, records: Sequence[GoRecord], activation: Activation) -> str | None:
        """Return the value of the result, as far as the line of the `return` shows it."""
        if activation.record is None:
            return None
        last = max((one.sequence for one in records), default=0) + 1
        returned = go_chain.find_return(records, activation.record, self.functions, last)
        return go_called.returned_value(returned) if returned is not None else None


def find_result(
    sources: GoSources, function: GoSourceFunction | None, line: int | None, expression: str
) -> CallResult | None:
    """Return the call that an expression is; None if it calls no function of the program."""
    side = go_expressions.classify_value(expression)
    if function is None or line is None or side.kind != "call" or side.origin is None:
        return None
    functions = sources.functions_named(side.origin.function)
    if not functions:
        return None
    site = GoSite(SiteKind.CALL, function.file, line, function, side.text, values=(side.text,))
    return CallResult(side.text, site, tuple(functions))
