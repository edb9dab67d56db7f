"""The quirks of the fake adapter with the check of each."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fakes.raw_client import ADAPTER, RawClient

Check = Callable[[RawClient], None]


class QuirkChecks(dict[str, Check]):
    """The checks of some quirks, by the quirk as it is written on the command line."""

    def of(self, *specs: str) -> Callable[[Check], Check]:
        """Enter the decorated function as the check of these quirks."""

        def enter(check: Check) -> Check:
            self.update(dict.fromkeys(specs, check))
            return check

        return enter

    def names(self) -> set[str]:
        """Give the names of the quirks that have a check."""
        return set(map(name_of, self))


def name_of(spec: str) -> str:
    """Give the part of a spec before its parameters."""
    return spec.partition(":")[0]


def read_quirks(*modules: str) -> dict[str, str]:
    """Read the table from its source: the spec and docstring of each decorated function."""
    found: dict[str, str] = {}
    for module in modules:
        path = ADAPTER.with_name("dap_quirks") / f"{module}.py"
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found |= dict.fromkeys(_specs(node), ast.get_docstring(node) or "")
    return found


def _specs(function: ast.FunctionDef) -> list[str]:
    calls = [one for one in function.decorator_list if isinstance(one, ast.Call)]
    return [str(ast.literal_eval(call.args[0])) for call in calls]
