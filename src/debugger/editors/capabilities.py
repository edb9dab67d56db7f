"""Says what editors can ask for (DAP, Capabilities): of every session, and of one debugger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from debugger.backends import abilities
from debugger.errors import DebuggerError
from debugger.session.session import Session

_ALWAYS = (
    "supportsConfigurationDoneRequest",
    "supportsFunctionBreakpoints",
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
    "supportsLogPoints",
    "supportsEvaluateForHovers",
    "supportsSetVariable",
    "supportsSetExpression",
    "supportsCompletionsRequest",
    "supportsExceptionInfoRequest",
    "supportsRestartRequest",
    "supportsTerminateRequest",
    "supportTerminateDebuggee",
    "supportsDelayedStackTraceLoading",
    "supportsClipboardContext",
    "supportsExceptionFilterOptions",
    "supportsLoadedSourcesRequest",
    "supportsCancelRequest",
)
# What only some debuggers can do, by the ability that it needs.
_BY_ABILITY: Mapping[str, type[Any]] = {
    "supportsReadMemoryRequest": abilities.MemoryAbility,
    "supportsWriteMemoryRequest": abilities.MemoryAbility,
    "supportsDisassembleRequest": abilities.DisassemblyAbility,
    "supportsInstructionBreakpoints": abilities.InstructionBreakpointAbility,
    "supportsSteppingGranularity": abilities.InstructionStepAbility,
    "supportsDataBreakpoints": abilities.WatchpointAbility,
    "supportsModulesRequest": abilities.ModuleAbility,
    "supportsGotoTargetsRequest": abilities.JumpAbility,
    "supportsStepInTargetsRequest": abilities.StepTargetAbility,
    "supportsSingleThreadExecutionRequests": abilities.SingleThreadAbility,
}
# What an editor may ask for, and the ability that it needs.
ABILITIES: Mapping[str, type[Any]] = {
    **_BY_ABILITY,
    "supportsExceptionFilterOptions": abilities.ExceptionAbility,
}
# What `catch` takes with most debuggers; the debugger's own come once it is known.
_USUAL_FILTERS = {"raised": "Raised exceptions", "uncaught": "Uncaught exceptions"}


def general_capabilities() -> dict[str, Any]:
    """Return what can be asked of some debugger: which one it will be is not known yet."""
    return {
        **dict.fromkeys((*_ALWAYS, *_BY_ABILITY), True),
        "completionTriggerCharacters": ["."],
        "exceptionBreakpointFilters": [_filter(*one) for one in _USUAL_FILTERS.items()],
    }


def session_capabilities(session: Session) -> dict[str, Any]:
    """Return what this session's debugger can do, as far as it differs."""
    found: dict[str, Any] = {
        name: _has_ability(session, kind) for name, kind in _BY_ABILITY.items()
    }
    if _has_ability(session, abilities.ExceptionAbility):
        known = session.backend.find_ability(abilities.ExceptionAbility).catch_filters
        found["exceptionBreakpointFilters"] = [
            _filter(word, one.label, takes_type=one.takes_type) for word, one in known.items()
        ]
    return found


def _has_ability(session: Session, kind: type[Any]) -> bool:
    try:
        session.backend.find_ability(kind)
    except DebuggerError:
        return False
    return True


def _filter(word: str, label: str, *, takes_type: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"filter": word, "label": label}
    if takes_type:
        found |= {"supportsCondition": True, "conditionDescription": "only this exception type"}
    return found
