"""`cargo run` and `cargo test` are parsed, and the programs that cargo builds are read."""

from __future__ import annotations

import json

import pytest

from debugger.targets.cargo_command import built_programs, first_error, parse_cargo

MESSAGES = "--message-format=json-render-diagnostics"


@pytest.mark.parametrize(
    ("typed", "build", "args"),
    [
        ("cargo run", "cargo build", ""),
        ("cargo run --bin shop -- --day 3", "cargo build --bin shop", "--day 3"),
        ("cargo r -q in.txt -v", "cargo build -q", "in.txt -v"),
        ("cargo +nightly test", "cargo +nightly test --no-run", ""),
        ("cargo test --lib few -- --exact", "cargo test --no-run --lib", "few --exact"),
        ("cargo test -p shop -F a,b few", "cargo test --no-run -p shop -F a,b", "few"),
        ("/opt/bin/cargo run", "/opt/bin/cargo build", ""),
    ],
)
def test_what_cargo_builds_and_what_the_program_gets(typed: str, build: str, args: str) -> None:
    found = parse_cargo(typed.split())
    assert found is not None
    assert found.build == (*build.split(), MESSAGES)
    assert found.args == tuple(args.split())


@pytest.mark.parametrize("typed", ["", "cargo", "cargo build", "cargo clippy", "./cargo-run run"])
def test_another_command_is_none_of_cargos_programs(typed: str) -> None:
    assert parse_cargo(typed.split()) is None


def test_the_programs_among_cargos_messages() -> None:
    artifact = {"reason": "compiler-artifact", "manifest_path": "/shop/Cargo.toml"}
    lines = [
        json.dumps({**artifact, "executable": None}),
        "no message",
        json.dumps({**artifact, "executable": "/shop/target/debug/shop"}),
        "[]",
    ]
    assert built_programs("\n".join(lines)) == [("/shop/target/debug/shop", "/shop")]


@pytest.mark.parametrize(
    ("errors", "first"),
    [
        ("error: could not find `Cargo.toml` in `/tmp`\n", "could not find `Cargo.toml` in `/tmp`"),
        (
            "   Compiling a v0.1.0\nerror[E0308]: mismatched types\n --> src/main.rs:3:5\n  |\n",
            "error[E0308]: mismatched types, at src/main.rs:3:5",
        ),
        (
            "error: no matching package\n --> src/lib.rs:9:1\n",
            "no matching package, at src/lib.rs:9:1",
        ),
        ("killed\n", "killed"),
    ],
)
def test_the_first_error_is_told_with_its_place(errors: str, first: str) -> None:
    assert first_error(errors) == first
