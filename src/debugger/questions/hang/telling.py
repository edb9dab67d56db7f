"""Builds the answer about a hang: same stacks merged, source, the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from debugger.core import answers
from debugger.core.hangs import Activity, Verdict, state
from debugger.core.loops import Loop
from debugger.core.samples import Place, Sampled
from debugger.questions.hang.outside import Outside
from debugger.session import source

_FRAMES = 4
_CHANGED = 6
_NAMES = 3
_SPAN = 2
_TRIVIAL = 0.02  # of a processor: the clock that counts it is no finer


def told(
    verdict: Verdict,
    sampled: Sequence[Sampled],
    activities: Sequence[Activity],
    *,
    place: Place | None,
    loop: Loop | None,
    outside: Outside,
) -> answers.Hang:
    """Return the answer for a verdict, without what belongs to the run."""
    names = {one.key: one.name for one in activities}
    first = {key: at for at, key in enumerate(verdict.chain)}
    ordered = sorted(sampled, key=lambda one: first.get(one.key, len(first)))
    where = f", in {_where(place)}" if place is not None else ""
    groups = _groups(ordered, names)
    return answers.Hang(
        kind=verdict.kind,
        cause=verdict.text + where,
        pid=outside.pid,
        cpu=round(outside.cpu, 2) if outside.cpu is not None else None,
        window_s=round(outside.window_s, 1),
        frame=_view(place) if place is not None else None,
        source=source.around(
            place.file if place else None, place.line if place else None, before=_SPAN, after=_SPAN
        ),
        loop=_loop(loop) if loop is not None else None,
        groups=groups,
        total=len(sampled),
    )


def _where(place: Place) -> str:
    name = Path(place.file).name if place.file else ""
    return f"{place.function} {name}:{place.line}" if name else place.function


def _view(place: Place, index: int = 0) -> answers.FrameView:
    return answers.FrameView(index, place.function, place.file, place.line)


def _loop(found: Loop) -> answers.LoopView:
    return answers.LoopView(
        line=found.line,
        text=found.text,
        lines=found.lines,
        changed=tuple(
            answers.VariedView(one.name, one.first, one.last) for one in found.changed[:_CHANGED]
        ),
        same=tuple(answers.VariableView(name, value) for name, value in found.same[:_CHANGED]),
    )


def _groups(sampled: Sequence[Sampled], names: Mapping[str, str]) -> tuple[answers.HangGroup, ...]:
    """Merge those that do the same at the same place, in the order given."""
    found: dict[tuple[object, ...], answers.HangGroup] = {}
    for one in sampled:
        frames = _frames(one)
        does = state(one.wait, names)
        key = (one.noun, does, tuple((each.function, each.file, each.line) for each in frames))
        group = found.get(key)
        if group is None:
            found[key] = answers.HangGroup(1, (one.name,), one.noun, does, _used(one.cpu), frames)
        else:
            cpu = (group.cpu or 0.0) + (_used(one.cpu) or 0.0)
            found[key] = msgspec.structs.replace(
                group,
                count=group.count + 1,
                names=(*group.names, one.name)[:_NAMES],
                cpu=round(cpu, 2) or None,
            )
    return tuple(found.values())


def _frames(one: Sampled) -> tuple[answers.FrameView, ...]:
    own = [each for each in one.last if each.is_own][:_FRAMES] or list(one.last[:1])
    return tuple(_view(each, at) for at, each in enumerate(own))


def _used(cpu: float | None) -> float | None:
    return round(cpu, 2) if cpu is not None and cpu > _TRIVIAL else None
