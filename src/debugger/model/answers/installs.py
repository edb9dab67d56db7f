"""What `setup` answers: which adapters are here, and how one that is not would be installed."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class AdapterView(Struct, frozen=True):
    """An adapter: whether it is here, and how it is installed if it is not.

    `status` is installed, missing, or broken: it is there and does not start. `problem` says what
    is wrong with it, `how` is the way to install it.
    """

    name: str
    status: str
    languages: tuple[str, ...]
    version: str | None = None
    path: str | None = None
    how: str | None = None
    problem: str | None = None


class AdapterList(Struct, frozen=True):
    """Every adapter that is known."""

    adapters: tuple[AdapterView, ...]


class Installation(Struct, frozen=True):
    """An adapter's installation.

    `status` is installed (now, if `changed`), planned (the `steps` are what would be done) or
    checked: `works` says whether they would, `problem` why not. `config` is the configuration's
    file where it was, or would be, written to.
    """

    name: str
    status: str
    steps: tuple[str, ...] = ()
    version: str | None = None
    path: str | None = None
    changed: bool = False
    works: bool | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    config: str | UnsetType = UNSET
