"""The contract suite's specification of PHP's debugger (Xdebug 3.2, PHP 8.2)."""

from __future__ import annotations

from adapter_specs.adapter_spec import (
    AdapterSpec,
    LargeValue,
    RawCommand,
    ThreadedStop,
    ThrowingProgram,
    marked_line,
    source_program,
    written_program,
)
from debuggees import find_marker, find_source
from debugger.backends import abilities, select_backend
from driven_backend import launch_target

SPEC = AdapterSpec(
    name="xdebug",
    debug_adapter=select_backend.ADAPTERS["xdebug"],
    loop=lambda: launch_target(find_source("sums.php")),
    file=str(find_source("sums.php")),
    inner="calculate",
    outer="sum_to",
    variable="$i",
    counter="$i",
    first=1,
    stop_line=find_marker("sums.php", "step"),
    call_line=find_marker("sums.php", "add"),
    prints="step 1\n",
    programs={
        "forever": source_program("endless.php"),
        "both": written_program(
            '<?php\nforeach ([1, 2] as $n) {\n  echo "stdout line $n\\n";\n'
            '  fwrite(STDERR, "stderr line $n\\n");\n}\n',
            "script.php",
        ),
        "input": source_program("stdin.php"),
        "killed": written_program(
            "<?php\nposix_kill(getmypid(), SIGSEGV);\nsleep(60);\n", "script.php"
        ),
    },
    large=LargeValue(
        source_program("values.php"),
        marked_line("values.php", "ready"),
        name="$many",
        function="main",
        size=100_000,
        shown="50",
    ),
    # PHP has one thread.
    threads=ThreadedStop(source_program("sums.php"), marked_line("sums.php", "step"), least=1),
    abilities=frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    ),
    returned_as="(return) calculate",
    raw=RawCommand("1 + 1", "2"),
    throws=ThrowingProgram(
        source_program("throws.php"),
        word="raised",
        type="OrderError",
        message="order 3 has no items",
    ),
)
