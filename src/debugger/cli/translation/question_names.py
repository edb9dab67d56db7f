"""Lists other names of the questions, by what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# In the form of the tables of `foreign_commands`: these can mean only the one question.
QUESTION_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("segfault", "crashes", "crash-report", "crashdump", "panic"), "crash"),
    **dict.fromkeys(("postmortem", "post-mortem", "why-crash", "why crashed"), "crash"),
    **dict.fromkeys(("deadlock", "deadlocks", "stuck", "freeze", "frozen", "hung"), "hang"),
    **dict.fromkeys(("why-hang", "livelock", "hangs"), "hang"),
    **dict.fromkeys(("writes *", "writers *", "who-changed", "who-modified", "who-set"),
                    "who-wrote {}"),
    **dict.fromkeys(("who-writes", "whowrote", "written-by", "find-writes", "last-write"),
                    "who-wrote"),
    **dict.fromkeys(("origin *", "provenance *", "where-from", "why-is *", "why-value *"),
                    "why {}"),
    "history *": "who-wrote {}",
    **dict.fromkeys(("trace-value *", "dataflow *", "data-flow *", "explain-value *"), "why {}"),
    **dict.fromkeys(("assert *", "invariant *", "ensure *", "verify *", "always *"), "holds {}"),
    **dict.fromkeys(("check-invariant", "hold *", "check *"), "holds {}"),
    **dict.fromkeys(("compare", "compare-runs", "divergence", "diverge"), "diff"),
    **dict.fromkeys(("call-graph", "callgraph", "call-tree", "calltree", "paths"), "path"),
    "trace-path": "path",
    **dict.fromkeys(("execution-path", "control-flow", "trace-run", "flow"), "path"),
    **dict.fromkeys(("trace-function *", "trace-calls *", "trace-func *", "call-log *"),
                    "calls {}"),
    **dict.fromkeys(("observe *", "sample *", "print-at *", "eval-at *", "value-at *"),
                    "probe {}"),
    **dict.fromkeys(("inspect-at *", "log-values *", "capture *", "probes *"), "probe {}"),
    **dict.fromkeys(("tests", "run-tests", "run-test", "why-fail"), "test"),
    **dict.fromkeys(("what-if *", "whatif *"), "try {}"),
    **{f"group {name}": f"{name} --group" for name in ("start", "attach", "crash", "hang")},
}  # fmt: skip

# These may mean more, or only a part of what the question answers.
LIKELY_QUESTIONS: Final[Mapping[str, str]] = {
    "callers *": "path --around {}; calls {}",
    "callees *": "calls {}; path --around {}",
    "coverage": "path {}",
    "profile": "path {}; hang {}",
    "timeout": "hang {}",
    "slow": "hang {}; path {}",
    "loop": "hang {}",
    "bisect": "diff {}",
    "blame *": "who-wrote {}; why {}",
    "expect *": "holds {}",
    "values *": "probe {}",
    "snapshot *": "probe {}",
    "failures": "test {}",
    "hits *": "probe --at {} EXPR -- CMD",
    "who wrote *": "who-wrote {}",
    "check": "doctor",
    "why-not *": "probe {}",
    "trace-back *": "why {}",
    "race": "diff {}; who-wrote EXPR {}",
    "leak": "path {}",
    **dict.fromkeys(
        ("back --to *", "back-to *", "back to *", "rewind to *", "reverse-to *"),
        "back-continue --to {}",
    ),
    "find writes *": "who-wrote EXPR --at LOC -- CMD",
    "step backwards": "back-step",
    "next line *": "next {}",
    "undo": "back",
    **dict.fromkeys(("changes", "what-changed"), "context; who-wrote EXPR --at LOC -- CMD"),
    **dict.fromkeys(("reason", "stop-reason"), "context; exception"),
    **dict.fromkeys(("last error", "last exception"), "exception"),
    "rank *": "focus {}",
    "info breakpoints *": "breakpoint list",
    "config show": "config",
    # Other tools that run a program
    "valgrind *": "crash -- {}",
    **dict.fromkeys(("strace -p *", "ltrace -p *"), "attach {}; trace add PATTERN"),
    **dict.fromkeys(("strace *", "ltrace *"), "path -- {}"),
    **dict.fromkeys(("perf -p *", "perf record -p *", "py-spy dump --pid *"), "hang --pid {}"),
}
