"""The protocol's official suite, run against the server."""

from __future__ import annotations

import re
from pathlib import Path

from mcp_client import start_http_server
from token_proxy import add_token

BASELINE = Path(__file__).parent / "baseline.yml"
# What any server must pass that has tools, resources, prompts, completion and log messages.
GENERAL = {
    "server-initialize",
    "ping",
    "logging-set-level",
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
}


async def test_every_scenario_passes_that_needs_no_example_server(
    runtime_dir, tmp_path, run_judge
) -> None:
    async with start_http_server() as server, add_token(server) as url:
        told = await run_judge(
            "conformance",
            *("server", "--url", url, "--suite", "all", "--output-dir", str(tmp_path / "told")),
            *("--expected-failures", str(BASELINE)),
        )
    assert told.exit == 0, str(told)
    summary = told.out.partition("=== SUMMARY ===")[2]
    assert set(re.findall(r"✓ ([\w-]+): [1-9]", summary)) == GENERAL, str(told)


async def test_the_suite_tells_when_a_scenario_of_the_baseline_passes(
    runtime_dir, tmp_path, run_judge
) -> None:
    stale = tmp_path / "stale.yml"
    stale.write_text("server:\n  - ping\n")
    async with start_http_server() as server, add_token(server) as url:
        told = await run_judge(
            "conformance",
            *("server", "--url", url, "--scenario", "ping", "--expected-failures", str(stale)),
        )
    assert told.exit == 1, str(told)
