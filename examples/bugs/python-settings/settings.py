"""Settings in layers: defaults, the environment's, a deployment's; later ones win."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


class SettingsError(Exception):
    """Settings that cannot be used."""


@dataclass
class Layer:
    name: str
    values: dict[str, Any] = field(default_factory=dict)


DEFAULTS = Layer(
    "defaults",
    {
        "server": {"host": "127.0.0.1", "port": 8080, "limits": {"body_kb": 512, "timeout_s": 30}},
        "logging": {"level": "info", "targets": ["stderr"]},
        "features": {"search": True, "export": False},
    },
)
ENVIRONMENT = Layer("environment", {"server": {"port": 9090}, "logging": {"level": "debug"}})
DEPLOYMENT = Layer(
    "deployment",
    json.loads('{"server": {"limits": {"body_kb": 2048}}, "features": {"export": true}}'),
)


def merged(below: dict[str, Any], above: dict[str, Any], depth: int = 2) -> dict[str, Any]:
    """Lay one set of values over another."""
    result = dict(below)
    for key, value in above.items():
        is_section = isinstance(value, dict) and isinstance(result.get(key), dict)
        if is_section and depth > 1:
            result[key] = merged(result[key], value, depth - 1)
        else:
            result[key] = value
    return result


def flattened(layers: list[Layer]) -> dict[str, Any]:
    """Lay all layers over each other, the first at the bottom."""
    result: dict[str, Any] = {}
    for layer in layers:
        result = merged(result, layer.values)
    return result


@dataclass(frozen=True)
class Limits:
    body_bytes: int
    timeout_s: float


@dataclass(frozen=True)
class Server:
    address: str
    limits: Limits


def read_limits(section: dict[str, Any]) -> Limits:
    """Read the limits of a server."""
    return Limits(body_bytes=section["body_kb"] * 1024, timeout_s=float(section["timeout_s"]))


def read_server(settings: dict[str, Any]) -> Server:
    """Read the server's section."""
    section = settings["server"]
    try:
        limits = read_limits(section["limits"])
    except KeyError as error:
        raise SettingsError(f"the server's limits lack {error}") from error
    return Server(address=f"{section['host']}:{section['port']}", limits=limits)


def main() -> None:
    settings = flattened([DEFAULTS, ENVIRONMENT])
    print("checked:", read_server(settings))
    settings = flattened([DEFAULTS, ENVIRONMENT, DEPLOYMENT])
    print("deployed:", read_server(settings))


if __name__ == "__main__":
    main()
