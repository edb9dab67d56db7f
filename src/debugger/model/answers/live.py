"""What is asked of a program that runs on: which functions are traced, what values are."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import VariableView

TRACED_MAX = 2000
"""The most functions that are traced at once."""


class TracedView(Struct, frozen=True):
    """A pattern of functions that is traced.

    `functions` counts them, `names` are some of them; `left_out` counts those beyond the limit,
    `sampled` are those of which not every call is an event, `skipped` says how many calls of each
    are not. `why` says why there is none; where such a
    pattern is not kept, it has no `id`.
    """

    id: int | None
    pattern: str
    functions: int
    names: tuple[str, ...] = ()
    left_out: int = 0
    sampled: tuple[str, ...] = ()
    skipped: tuple[int, ...] = ()
    why: str | UnsetType = UNSET
    near_names: tuple[str, ...] | UnsetType = UNSET


class Traces(Struct, frozen=True):
    """The patterns that are traced; `functions` counts the functions of all of them."""

    traced: tuple[TracedView, ...]
    functions: int


class LiveReading(Struct, frozen=True):
    """A value that was read by its name, or by its address; `error` says why it could not be."""

    name: str
    value: str | None
    type: str = ""
    ref: str | UnsetType = UNSET
    children: tuple[VariableView, ...] | UnsetType = UNSET
    children_total: int | UnsetType = UNSET
    error: str | UnsetType = UNSET


class LiveReadings(Struct, frozen=True):
    """Values that were read at once."""

    values: tuple[LiveReading, ...]
