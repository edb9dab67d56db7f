"""The contract suite's specification of Ruby's debugger (debug 1.4, Ruby 3.1)."""

from __future__ import annotations

from adapter_specs.adapter_spec import (
    AdapterSpec,
    LargeValue,
    RawCommand,
    ThreadedStop,
    ThrowingProgram,
    WatchedVariable,
    marked_line,
    source_program,
    written_program,
)
from debuggees import find_marker, find_source
from debugger.backends import abilities, select_backend
from debugger.model.program import ExitedProgram
from driven_backend import launch_target

SPEC = AdapterSpec(
    name="rdbg",
    debug_adapter=select_backend.ADAPTERS["rdbg"],
    loop=lambda: launch_target(find_source("sums.rb")),
    file=str(find_source("sums.rb")),
    inner="calculate",
    outer="sum_to",
    variable="i",
    first=1,
    stop_line=find_marker("sums.rb", "step"),
    call_line=find_marker("sums.rb", "add"),
    prints="step 1\n",
    number="Integer",
    programs={
        "forever": source_program("endless.rb"),
        "both": written_program(
            'for n in [1, 2]\n  puts "stdout line #{n}"\n  warn "stderr line #{n}"\nend\n',
            "script.rb",
        ),
        "input": source_program("stdin.rb"),
        "killed": written_program("Process.kill(:SEGV, Process.pid)\nsleep\n", "script.rb"),
    },
    large=LargeValue(
        source_program("values.rb"),
        marked_line("values.rb", "ready"),
        name="many",
        function="main",
        size=100_000,
        shown="50",
    ),
    threads=ThreadedStop(
        source_program("threads.rb"), marked_line("threads.rb", "all_alive"), least=5
    ),
    abilities=frozenset(
        {
            abilities.ExceptionAbility,
            abilities.LoadedSourceAbility,
            abilities.ModuleAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
            abilities.WatchpointAbility,
        }
    ),
    killed_ends=ExitedProgram(signal="SIGABRT"),  # Ruby's own handler of SIGSEGV aborts
    raw=RawCommand("1 + 1", "2"),
    returned_as="(return) calculate",
    watched=(
        WatchedVariable(
            source_program("watched.rb"),
            marked_line("watched.rb", "first"),
            expression="@level",
            values=("3", "7", "1"),
        ),
    ),
    throws=ThrowingProgram(
        source_program("throws.rb"),
        word="raised",
        type="OrderError",
        message="order 3 has no items",
    ),
)
