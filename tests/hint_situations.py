"""The situations that hints are for: a state, a command that fails in it, and the hint it gets."""

from __future__ import annotations

from typing import Final

RESTART: Final = "debugger restart runs it again; debugger output shows what it printed"
PAUSE: Final = "debugger pause stops it; debugger await waits for the next stop"
LOCALS: Final = "debugger locals lists what is here"
START: Final = "debugger start PROGRAM begins one"

# In any session that is stopped in `calculate`, called by `sum_to`.
STOPPED: Final = {
    "status --nope": "debugger status",
    "print nope": LOCALS,
    "print --format nope i": "debugger print --help",
    "print '1 +'": "one whole expression of the program's language: debugger print 'a[0] + b'",
    "set i =": "one whole expression of the program's language: debugger set 'a[0]' 'b + 1'",
    "print ''": "debugger print EXPR",
    "set": "debugger set --help",
    "vars v999": "refs look like v3 and come with debugger locals and debugger print",
    "frame 99": "debugger backtrace",
    "down": "debugger up goes to its caller",
    "thread 1234567": "debugger threads",
    "backtrace --thread 1234567": "debugger threads",
    "backtrace --limit 0": "debugger backtrace",
    "context --context -1": "debugger context",
    "source nosuch": "debugger source FILE:LINE",
    "until 'nofile.c:9'": "debugger source shows the lines",
    "next 0": "debugger until LOC runs to a place",
    "back 0": "debugger back 3",
    "continue --timeout -1": "without it, debugger config shows the default",
    "await": "debugger continue lets it run",
    "break calculate --hit-count 0": "debugger break --help",
    "breakpoint remove 99": "debugger breakpoint list",
    "breakpoint remove": "debugger breakpoint list",
    "breakpoint change 1": "debugger breakpoint change 1 --condition 'n > 3'",
    "breakpoint change 1 --hit-count -1": "debugger breakpoint change --help",
    "breakpoint change 99 --log x": "debugger breakpoint list",
    "watch remove 99": "debugger watch list",
    "watch remove": "debugger watch list",
    "watch remove 1": "debugger breakpoint remove 1",
    "catch remove 99": "debugger catch list",
    "catch nope": "debugger catch ",
    "exception": "debugger catch ",
    "input": "debugger input --help",
    "input --file nofile": "debugger input --file F",
    "input --file /dev/zero": "debugger start PROGRAM --stdin FILE",
    "output --tail -1": "debugger output",
    "events --kind nope": "debugger events",
    "events --until zz": "debugger events",
    "trace remove 99": "debugger trace list",
    "read": "debugger read --help",
    "use nope": "debugger sessions",
    "stop --session nope": "debugger sessions",
    "evidence show e99": "debugger evidence list",
    "raw ''": "debugger raw help lists some",
    "raw --within -1 help": "debugger raw --within 10 COMMAND",
    "--budget 1 status": "debugger --budget 500 COMMAND",
    "setup nope": "debugger setup --list",
    "break": "debugger break FILE:LINE",
    "print --format hex 1.5": "debugger print shows it as it is",
    "eval '1\n2'": "debugger eval EXPR takes one line; give several one after the other",
    "step --into calculate --own": "debugger step --into NAME",
    "step --own --instruction": "debugger step --own",
    "next --own --instruction": "debugger next --own",
    "watch i --read --access": "debugger watch --help",
    f"read {' '.join(map(str, range(51)))}": "debugger read NAME NAME",
    f"call calculate {' '.join(map(str, range(33)))}": "debugger call --help",
    "trace add x --limit 0": "debugger trace add --help",
    f"trace add {' '.join(map(str, range(99)))}": "debugger trace add 'audio::*'",
    "try nope --until 3 --expect 1": "debugger try 'x=3' 'order->total=0' --until LOC",
}
# In a native program's, on top of these.
NATIVE: Final = {
    "memory read nope": "debugger locals",
    "memory read 0x0": "debugger print shows a pointer's value; debugger modules what is loaded",
    "memory read 0x10 --count 0": "debugger memory read --help",
    "memory read 0x10 --format xx": "debugger memory read --help",
    "memory write 0x10 zz": "debugger memory write 0xADDR de ad be ef",
    "registers nope": "debugger registers all",
    "disassemble 0x1": "debugger disassemble",
    "disassemble --count 0": "debugger disassemble --help",
    "jump 9999": "debugger source shows the ",
    "jump nope": "debugger jump LINE",
    "write '&i:i32' zz": "debugger write 0xADDR:i32 0",
    "read '&i:i32' --type i32": "debugger read 0xADDR:TYPE",
    "memory write 0x10 00": "debugger print shows a pointer's value",
    "read 0x10:nope": "debugger read 0xADDR:TYPE; one of ",
    "watch nope": "debugger locals",
}
_NEED_A_STOP = "next|locals|print 1|set counter 3|backtrace|context|thread|until 10|exception"
RUNNING: Final = dict.fromkeys(_NEED_A_STOP.split("|"), PAUSE) | {
    "read nope": "debugger pause; --backend frida reads and writes globals"
}
_NEED_A_PROGRAM = "next|locals|print 1|backtrace|threads|pause|await|input hi"
ENDED: Final = dict.fromkeys(_NEED_A_PROGRAM.split("|"), RESTART)
NONE: Final = {
    "next": START,
    "locals": START,
    "output": START,
    "break main": START,
    "start /nowhere/program": "debugger start PROGRAM",
    "attach 999999999": "debugger attach lists the processes",
    "use nope": "debugger sessions",
    "nope": "debugger --help",
    "crash": "debugger crash -- ./program ARGUMENTS",
    "hang": "debugger hang -- ./program ARGUMENTS",
    "who-wrote": "debugger who-wrote --help",
    "runs remove nope": "debugger path --save NAME -- CMD",
    "evidence export": "debugger crash -- PROGRAM",
}
PATH: Final = "debugger path -- CMD shows what ran"
PROBE: Final = "debugger probe --at FILE:LINE 'total, count' -- CMD"
TESTS: Final = "debugger test -- pytest -q tests/test_x.py"
WAYS: Final = (
    "debugger attach PID, --name NAME, --core FILE PROGRAM, --connect HOST:PORT, --kernel FILE or "
)
CORE: Final = "debugger attach --core FILE PROGRAM"
_PY: Final = "-- python3 loop.py"
# Without a session, beside `loop` (built of loop.c), loop.py and loop.js: questions that are
# refused, most of them before a program runs.
QUESTIONS: Final = {
    f"crash --group --keep {_PY}": "debugger crash --group -- CMD",
    "crash -- mpirun -n 2 ./loop": "debugger crash --group -- mpirun -n 2 ./loop",
    "hang --after 2 -- mpirun -n 2 ./loop": "debugger hang --group -- mpirun -n 2 ./loop",
    "probe --at loop.c:3 x -- mpirun -n 2 ./loop": "debugger probe --group --at LOC EXPR -- mpirun",
    "hang --group -- mpirun -n 2": "debugger hang --group -- mpirun -n 4 PROGRAM",
    "calls main -- mpirun -n 2 ./loop": "debugger path --group -- mpirun -n 2 ./loop",
    "why x --at hang -- ./loop": "debugger hang -- CMD names the line; debugger probe --at hang",
    "crash --core x --pid 1 -- ./loop": "debugger crash --core FILE PROGRAM",
    "crash --core x": "debugger crash --core FILE PROGRAM",
    "hang --group --svg x.svg -- ./loop": "debugger hang --pid N --svg FILE.svg",
    "hang --after -1 -- ./loop": "debugger hang --after 5 -- CMD",
    "hang --after 3 --pid 999999999": "debugger hang --pid 999999999",
    "crash --test --core x -- ./loop": "debugger test -- CMD",
    "crash --stdin nofile -- ./loop": "debugger crash --stdin FILE …",
    "crash --cwd nodir -- ./loop": "debugger crash --cwd DIRECTORY …",
    "crash --env nope -- ./loop": "debugger crash --help",
    "crash -- ./loop '>' x": (
        "debugger crash --stdin FILE -- PROGRAM; debugger start PROGRAM -- ARGS"
    ),
    "crash -- bash -c x.sh": "debugger crash -- PROGRAM ARGUMENTS, the program itself",
    "crash -- timeout 5 ./loop": "debugger crash -- PROGRAM ARGUMENTS, the program itself",
    "crash -- ./lop": "debugger crash -- ./loop",
    "crash -- './loop 3'": "debugger crash -- ./loop 3",
    "path -- python3 lop.py": "debugger path -- python3 loop.py",
    "path -- python3": "debugger path -- python3 SCRIPT",
    "path -- python3 -Q x": "debugger path -- python3 SCRIPT, or python3 -m MODULE",
    "path -- node": "debugger path -- node SCRIPT",
    "path -- node -p x": "debugger path -- node -e 'console.log(CODE)'",
    "path -- node --input-type=module -e x": "debugger path -- node SCRIPT",
    f"path --between main -x {_PY}": "debugger path --between LOC LOC -- CMD",
    f"path --save n --between main calculate {_PY}": "debugger path --save NAME -- CMD",
    f"path --around main {_PY} --vs python3 loop.py": "debugger path --around LOC -- CMD looks at",
    f"path --process 1 --save n {_PY}": "debugger path --process 1 -- CMD",
    f"path --process 7 {_PY}": "debugger path -- CMD names them",
    f"path --process failing {_PY}": PATH,
    f"path --around nope {_PY}": PATH,
    f"path {_PY} --vs": "debugger path -- CMD ARGS --vs CMD ARGS",
    f'path --vs "\'x" {_PY}': "debugger path -- CMD ARGS --vs CMD ARGS needs no quotes",
    "path -- run:nope": "debugger path --save NAME -- CMD",
    "path -- run:kept": "debugger path -- CMD --vs run:kept",
    f"diff --function main {_PY} --vs run:kept": "debugger path -- CMD --vs run:kept",
    f"diff {_PY}": "debugger diff -- CMD_A ARGS --vs CMD_B ARGS",
    f"diff --function calculate --at loop.py:22 i {_PY} --vs python3 loop.py": (
        "debugger diff --at calculate 'EXPR, EXPR' -- CMD_A --vs CMD_B"
    ),
    f"diff --when x {_PY} --vs python3 loop.py": (
        "debugger diff --at FILE:LINE 'EXPR, EXPR' -- CMD_A --vs CMD_B"
    ),
    f"probe {_PY}": PROBE,
    f"probe --at loop.py:22 i --limit 0 {_PY}": "--first 3 is three hits",
    f"probe --at loop.py:22 i --from 5 --to 3 {_PY}": PROBE,
    f"probe --at loop.py:22 i --from x {_PY}": PROBE,
    f"probe --at loop.py:22 i --when 1 --when 2 {_PY}": PROBE,
    f"probe --at loop.py:22 i --from 1s --limit 5 {_PY}": (
        "debugger probe --from 1s --to 2s --at FILE:LINE … -- CMD"
    ),
    f"probe --at loop.py:22 i --at loop.py:22 n {_PY}": (
        "debugger probe --at loop.py:22 'EXPR, EXPR' -- CMD"
    ),
    f"probe --at calculat i {_PY}": "debugger probe --at calculate EXPR -- CMD",
    f"probe --at loop.py:22 i --rows 0 {_PY}": "debugger probe --rows 40 …",
    "probe --by recorder --at loop.c:6 i -- ./loop": "debugger probe --by logpoints …",
    f"who-wrote i {_PY}": f"debugger who-wrote i --at LOC {_PY}",
    f"who-wrote loop.py:29 {_PY}": f"debugger who-wrote EXPR --at loop.py:29 {_PY}",
    f"who-wrote nope --at loop.py:29 {_PY}": (
        "debugger who-wrote NAME --at loop.py:29 -- CMD: a name that is known there"
    ),
    "who-wrote no.field --at loop.js:3 -- node loop.js": (
        "debugger probe --at loop.js:3 no.field -- CMD evaluates it"
    ),
    f"calls nope {_PY}": PATH,
    "start './loop 3'": "debugger start ./loop -- 3",
    "start ./loop --nth 2": "debugger start … --break LOC --nth 2",
    "start ./loop --break 'calculate if n > 1' --when 'n > 2'": (
        "debugger start … --break LOC --when EXPR, with both conditions in EXPR"
    ),
    "crash --timeout 9 './loop 3'": "debugger crash --timeout 9 -- ./loop 3",
    "calls calculat -- ./loop": "debugger calls calculate -- CMD",
    "crash -- env -i ./loop": "debugger crash --env NAME=VALUE -- PROGRAM",
    "diff -- './loop 3' ./loop": "debugger diff -- ./loop 3 --vs CMD",
    "diff -- python3 lop.py": "debugger diff -- python3 loop.py --vs CMD",
    f"diff --at calculat i {_PY} --vs python3 loop.py": (
        "debugger diff --at calculate EXPR -- CMD_A --vs CMD_B"
    ),
    f"holds 'i < 5' {_PY}": "debugger holds 'i < 5' --at LOC -- python3 loop.py",
    f"holds 'i < 5' --at calculat {_PY}": "debugger holds EXPR --at calculate -- CMD",
    f"holds 'i <' --at loop.py:22 {_PY}": "one whole expression of Python",
    "holds 'i < 5' --each nope -- ./loop": (
        "debugger holds EXPR --at FILE:LINE -- CMD checks at a line"
    ),
    "evidence export /nowhere/x": "mkdir -p /nowhere makes it",
    "evidence export notes.txt": "notes.txt --force",
    f"probe --at calculate i --plot x.jpg {_PY}": "debugger probe --plot x.svg …",
    "path -- ./notes.txt": "debugger path -- PROGRAM ARGUMENTS, the program itself",
    "who-wrote nope --at loop.c:7 -- ./loop": "debugger who-wrote NAME --at loop.c:7 -- CMD",
    f"who-wrote square --at loop.py:19 {_PY}": "debugger who-wrote square --at loop.py:20 -- CMD",
    "who-wrote 'i+1' --at loop.c:7 -- ./loop": "debugger probe --at loop.c:7 i+1 -- CMD",
    "why i -- ./loop": "debugger why i --at LOC -- ./loop",
    "why i --at loop.c:7": "debugger why i --at loop.c:7 -- CMD; at a stop: debugger why EXPR",
    "why i --at crash --nth 2 -- ./loop": "debugger why i --at crash -- ./loop",
    "why i --at loop.c:7 --nth x -- ./loop": "--nth 3 is the third hit",
    "why i --at loop.c:7 --first 3 -- ./loop": (
        "--nth 3 is one of them: debugger why EXPR --at LOC --nth 3 -- CMD"
    ),
    f"why i --at loop.py:22 --in nope {_PY}": (
        "debugger probe --at loop.py:22 EXPR -- CMD shows its hits"
    ),
    f"holds 'i < 5' --at exit {_PY}": "debugger probe --at exit EXPR -- CMD shows values there",
    f"path --after calculate {_PY}": "debugger path --between calculate LOC -- CMD",
    f"holds 'i < 5' --at loop.py:22 --last 2 {_PY}": "debugger probe --at LOC 'EXPR' --last N",
    f"holds 'i < 5' --at loop.py:22 --nth last {_PY}": "debugger probe --at LOC 'EXPR' --last N",
    f"holds 'i < 5' --at loop.py:22 --changes {_PY}": "debugger probe --at LOC 'EXPR' --changes",
    "why nope --at loop.c:7 -- ./loop": "debugger why NAME --at loop.c:7 -- CMD",
    f"why i --at crash {_PY}": "debugger why EXPR --at FILE:LINE -- CMD",
    "test": TESTS,
    "test -- X=1": TESTS,
    "test -- cargo nextest run": "debugger test -- cargo test",
    "test --cwd nodir -- true": "debugger test --cwd DIRECTORY -- CMD",
    "test -- npm test": "debugger test -- npx jest",
    "test -- nosuch": "debugger test -- pytest, go test, ",
    "test -- npx ava": "debugger start npx --break FILE:LINE -- ava",
}
# Refused before a session begins; what the hint says then begins one, or says more.
BEGINNINGS: Final = {
    "attach": WAYS,
    "attach 1 --name x": WAYS,
    "attach nope": "debugger attach --name nope",
    "attach --group --pids 1,nope": "debugger attach --group --pids N,N",
    "crash --core nofile ./loop": "debugger crash --core FILE PROGRAM",
    "update": "pip install --upgrade debugger-cli; debugger setup --list shows the adapters",
    "attach --core notes.txt loop": CORE,
    "attach --core nofile": CORE,
    "attach --connect nope": "debugger attach --connect localhost:5678",
    "attach --simulator x": "debugger attach --simulator NAME --bundle-id ID",
    "start -m this --adapter gdb": "debugger start -m this",
    "start --python nope -- loop.py": "debugger start --python PATH …; without it, the one on",
    "start --python /bin/true -- loop.py": "debugger start --python PATH …; without it, the one on",
    "start --stdin nofile -- ./loop": "debugger start --stdin FILE …",
    "start --cwd nodir -- ./loop": "debugger start --cwd DIRECTORY …",
    "mcp --toolset nope": "debugger mcp --help",
    "mcp --http x": "debugger mcp --http 127.0.0.1:0",
    "skill --install x --print": "debugger skill --help",
    "skill --install notes.txt": "debugger skill --print shows it",
}
BY_ADAPTER: Final = {
    "gdb": {
        "disassemble 0x1": "debugger disassemble shows the current function",
        "step --into nope": "debugger step goes into the next call",
        "trace add 'nope*'": "debugger start PROGRAM --backend frida traces patterns",
        "raw nope": "debugger raw help lists the commands",
    },
    "lldb-dap": {
        "watch '*(char(*)[1000])$sp'": "watch one of its members or elements; debugger print shows",
        "raw nope": "debugger raw help lists the commands",
        "raw 'process detach'": "debugger detach ends the session and lets the program go on",
        "raw kill": "debugger stop ends program and session",
        "raw 'shell ls'": 'debugger config: [security] shell = "allow" permits it',
    },
    "debugpy": {
        "raw '1 +'": "raw evaluates an expression of the program's language here; debugger locals",
        "set nope 3": "debugger locals; debugger eval 'nope = …' makes a new one",
        "set 3 3": "debugger eval runs any statement",
        "step --instruction": "debugger next and debugger step go by lines",
        "break '*0x1'": "debugger break FILE:LINE, or a function's name",
        "watch i": "debugger who-wrote i names the lines that wrote it up to here",
        "memory read 0x0": "debugger print EXPR shows a value, debugger set changes it",
        "registers": "debugger locals shows the variables",
        "disassemble": "shows Python's own instructions",
        "continue --thread 1": "debugger break FILE:LINE --thread N stops one thread only",
        "jump 'nofile.c:3'": "debugger jump takes a line of calculate",
        "jump 9999": "debugger source shows the ",
    },
    "js-debug": {
        "raw '1 +'": "raw evaluates an expression of the program's language here; debugger locals",
        "watch i": "debugger who-wrote i names the lines that wrote it up to here",
        "memory read 0x0": "debugger print BUFFER shows the bytes of a Buffer or a typed array",
        "jump 9999": "debugger set NAME VALUE changes what comes next",
    },
    "delve": {
        "watch nope": LOCALS,
        "watch i --read": "debugger watch EXPR --access stops at reads and writes",
    },
    "frida": {
        "print nope": "debugger locals",
        "print '$nope'": "debugger registers",
        "set '$nope' 1": "debugger registers",
        "set calculate 3": "debugger print shows what it is; debugger set NAME VALUE",
        "memory write 0x10 00": "debugger print shows a pointer's value; debugger modules what is ",
        "print '1 +'": "one whole expression of the program's language: debugger print 'a[0] + b'",
        "set i =": "one whole expression of the program's language: debugger set 'a[0]' 'b + 1'",
        "set 3 3": "debugger set NAME VALUE",
        "disassemble 0x1": "debugger disassemble",
        "try 'return 3'": "debugger start PROGRAM --adapter lldb-dap, or gdb, can",
    },
}
# What a backend answers of a program that runs, where the others refuse it.
ANSWERED_RUNNING: Final = {"frida": {"print 1"}}
BY_ADAPTER_RUNNING: Final = {
    "lldb-dap": {"watch counter": PAUSE},
    "gdb": {"raw help": PAUSE},
    "delve": {"raw help": PAUSE},
    "frida": {
        "print nope": "debugger pause stops it, for locals; debugger read 0xADDR --type i32",
        "read nope": "debugger pause stops it, for locals; debugger read 0xADDR --type i32",
    },
}

# Hints that have no situation here: why, and the tests of the part that gives them. READ: no test
# meets them; their commands are read by the real command line, as those of all.
READ: Final = "tests/unit/cli/test_hints.py"
_DIED = "an adapter that died: tests/faults/test_adapter_death.py"
REASONS: Final = {
    "questions/runner/started_command.py: debugger X … -- PROGRAM ARGUMENTS, the command": (
        "tests/questions/test_started_command.py"
    ),
    "errors.py: debugger daemon status names the directory": "tests/unit/daemon/test_server.py",
    "questions/calls/calls_question.py: debugger calls X -- X (shows the first ones)": (
        "tests/unit/questions/calls/test_number_from_end.py"
    ),
    "questions/calls/calls_question.py: debugger probe --at X EXPR --nth last -- X": (
        "no recording counts them: tests/unit/questions/calls/test_number_from_end.py"
    ),
    "questions/who_wrote/python_writes.py: debugger why X --at XX -- CMD": (
        "tests/questions/test_who_wrote.py"
    ),
    "targets/launch_target.py: debugger X X (made by X X": "tests/e2e/test_bad_start.py",
    "cli/commands/compound_start.py": "tests/e2e/test_launch_json.py",
    "sources/java_command.py": "tests/unit/backends/adapters/test_java.py",
    "questions/recordings/java_run.py: debugger setup": (
        "tests/unit/questions/recordings/test_java_counts.py"
    ),
    "cli/commands/member_command.py": "member asks so itself: tests/e2e/test_members.py",
    "targets/launchers.py: debugger start --group": "tests/unit/targets/test_launchers.py",
    "tui/tui_main.py: debugger status, or debugger ui": "tests/tui/test_screen.py",
    "cli/commands/breakpoint_commands.py: debugger breakpoint remove X, and set it again": (
        "tests/unit/cli/test_breakpoint_change.py"
    ),
    "questions/crash/command.py: debugger path --html FILE.html -- CMD writes a page": (
        "tests/unit/questions/runner/test_evidence_drawing.py"
    ),
    "questions/crash/command.py: debugger evidence draw X --text": (
        "tests/unit/questions/runner/test_evidence_drawing.py"
    ),
    "clients/session_client.py: debugger status shows what there is": (
        "tests/unit/clients/test_session_client.py"
    ),
    "clients/session_client.py: debugger daemon logs shows why": (
        "tests/unit/clients/test_session_client.py"
    ),
    "questions/runner/evidence_store.py: debugger evidence show X": (
        "tests/unit/questions/runner/test_evidence_drawing.py"
    ),
    "cli/host_pipe.py: debugger start --host user@server ./app": (
        "tests/unit/hosts/test_host_router.py"
    ),
    "hosts/answer_merge.py: debugger path -- CMD": "tests/unit/hosts/test_answer_merge.py",
    "hosts/host_address.py: debugger start --host user@server ./app": (
        "tests/unit/hosts/test_host_address.py"
    ),
    "hosts/host_address.py: debugger start --container ID ./app": (
        "tests/unit/hosts/test_host_address.py"
    ),
    "hosts/host_address.py: debugger start --pod NAMESPACE/NAME": (
        "tests/unit/hosts/test_host_address.py"
    ),
    "hosts/host_call.py: debugger config --path": "tests/unit/hosts/test_host_tools.py",
    "hosts/host_failures.py: X; debugger config --path is where": "tests/e2e/test_hosts.py",
    "hosts/host_groups.py: debugger status lists": "tests/e2e/test_host_groups.py",
    "hosts/host_list.py: debugger status connects again": "tests/e2e/test_hosts.py",
    "hosts/host_router.py: debugger X --group --host": "tests/unit/hosts/test_host_router.py",
    "hosts/host_router.py: debugger stop --session X": "tests/unit/hosts/test_host_router.py",
    "hosts/host_router.py: debugger X, there": "tests/unit/hosts/test_host_router.py",
    "session/function_tracing.py: debugger trace add X traces all": (
        f"an engine that traces patterns: {READ}"
    ),
    "questions/locations/event_location.py: debugger X -- CMD shows how": (
        "tests/questions/test_hit_filter.py"
    ),
    "questions/locations/event_location.py: debugger hang -- CMD says where": (
        "tests/questions/test_event_locations.py"
    ),
    "questions/locations/event_location.py: debugger crash -- CMD": (
        f"a program that a signal ends: {READ}"
    ),
    "questions/locations/event_location.py: debugger X EXPR --at FILE:LINE": (
        "tests/questions/test_event_locations.py"
    ),
    "questions/locations/exit_location.py": "tests/questions/test_event_locations.py",
    "questions/locations/hang_location.py": "tests/questions/test_event_locations.py",
    "questions/locations/event_location.py: --timeout 300": f"a crash that never comes: {READ}",
    "questions/runner/question_build.py: debugger X --group --at LOC EXPR": (
        f"the same hint as of crash and hang, with a place: {READ}"
    ),
    "questions/runner/question_build.py: debugger X --pid N": (
        f"a process that ends meanwhile: {READ}"
    ),
    "questions/group/": "tests/e2e/test_groups.py",
    "cli/editor_pipe.py": "tests/editors/test_editor_judges.py",
    "targets/launch_json/": "tests/unit/targets/test_launch_json.py",
    "targets/launch_target.py: debugger start --list-configs": "tests/e2e/test_launch_json.py",
    "questions/runner/configured_target.py": "tests/e2e/test_launch_json.py",
    "cli/commands/configured_start.py": "tests/e2e/test_launch_json.py",
    "editors/": "tests/editors/test_editor_requests.py",
    "questions/recordings/stepped_calls.py: debugger calls --timeout 300": (
        f"a call that comes too late: {READ}"
    ),
    "questions/recordings/counted_run.py: debugger why --timeout 300": (
        "tests/questions/test_why_node.py"
    ),
    "recorders/native/line_recorder.py": f"a machine of another kind: {READ}",
    "targets/group_target.py": "tests/unit/targets/test_group_target.py",
    "targets/kernel_target.py": "tests/unit/targets/test_kernel_target.py",
    "session/group.py": "tests/e2e/test_groups.py",
    "model/group_labels.py": "tests/property/test_groups.py",
    "cli/commands/session_commands.py": "tests/unit/targets/test_attach_target.py",
    "cli/commands/inspection_commands.py: debugger config": (
        f"a configuration that denies raw commands: {READ}"
    ),
    "cli/commands/system_commands.py": (
        "an installation that was cut off: tests/unit/install/test_installer.py"
    ),
    "questions/back": "a repeated run goes another way: tests/questions/test_back.py",
    "config.py": "tests/unit/test_config.py",
    "model/breakpoints.py: debugger breakpoint remove --all": f"a thousand breakpoints: {READ}",
    "model/location.py": "a wrong folder: tests/unit/model/test_source_map.py",
    "model/events.py": f"a state that lasts for a moment: {READ}",
    "questions/path/path_question.py": "tests/questions/test_counted.py",
    "questions/recordings/recorded_run.py: debugger path --process": (
        "tests/questions/test_recorded.py"
    ),
    "questions/recordings/recorded_run.py": "no language is left that is not recorded otherwise: "
    "tests/questions/test_crash.py",
    "questions/hang/wait_graph.py": f"a hang of which no thread is known: {READ}",
    "questions/probe/pair_plot.py": "tests/questions/test_pictures.py",
    "questions/recordings/saved_runs.py: debugger X --vs CMD": f"a run of many MiB: {READ}",
    "questions/recordings/saved_runs.py: debugger runs remove X": "a run that was damaged: "
    "tests/unit/questions/recordings/test_saved_runs.py",
    "questions/holds/adapter_checks.py: debugger holds EXPR --at X -- CMD": (
        "tests/unit/questions/holds/test_listed_functions.py"
    ),
    "questions/holds/known_values.py: debugger holds": "tests/questions/test_holds.py",
    "questions/probe/probe_comparison.py: debugger probe": "tests/questions/test_probe.py",
    "questions/test/": f"tests that do not build: {READ}",
    "questions/try_change/": f"a trial that ends otherwise: {READ}",
    "questions/who_wrote/python_writes.py: debugger who-wrote --timeout": (
        f"a run without end: {READ}"
    ),
    "questions/who_wrote/watched_writes.py": "tests/questions/test_who_wrote.py",
    "questions/why/python_trace.py": "tests/questions/test_why_python.py",
    "questions/diff/diff_probes.py": "options and commands that no comparison takes: "
    "tests/questions/test_diff_at.py",
    "questions/why/why_request.py: debugger frame 0; debugger why X": (
        f"another frame is selected at a stop: {READ}"
    ),
    "questions/runner/stopped_session.py": "tests/questions/test_why.py",
    "questions/why/": "tests/questions/test_why.py",
    "recorders/recorded_process.py: debugger crash": "tests/recording/test_scripts.py",
    "recorders/script/": "tests/questions/test_why_scripts.py",
    "output/": "tests/unit/output/test_stop.py",
    "session/raw_commands.py": (
        "a command that cannot be broken off: tests/e2e/test_raw_timeout.py"
    ),
    "session/machine_inspection.py: debugger memory read": "tests/e2e/test_machine.py",
    "session/stop_report.py": _DIED,
    "session/session.py": (
        "a process of several that ended: tests/unit/session/test_process_tree.py"
    ),
    "session/session_control.py": "a person has taken over: tests/ui/test_page_server.py",
    "session/session_list.py: debugger stop --session": f"as many sessions as there may be: {READ}",
    "session/session_state.py": _DIED,
    "session/stepping.py: debugger until": f"a frame far out: {READ}",
    "session/value_inspection.py": (
        "strings, references of Rust, values without a place: tests/e2e/test_bad_values.py,"
        " tests/e2e/test_rust_references.py, tests/e2e/test_optimised.py"
    ),
    "session/job_worker.py": "a hundred commands at once: tests/unit/session/test_job_worker.py",
    "targets/attach_request.py": "tests/e2e/test_bad_start.py",
    "targets/attach_target.py: debugger attach --help": f"a NUL, which no shell passes: {READ}",
    "install/installer.py": (
        "tests/unit/install/test_installer.py, tests/unit/install/test_install_prefix.py"
    ),
    "targets/process_target.py": (
        "tests/unit/targets/test_attach_target.py, tests/unit/targets/test_trace_refusals.py"
    ),
    "targets/attach_target.py": "tests/unit/targets/test_attach_target.py",
    "install/settings_file.py": "tests/unit/install/test_settings_file.py",
    "cli/skill/": "tests/test_skill.py",
    "targets/command_line.py": "tests/unit/targets/test_command_line.py",
    "system/simulator.py": "tests/unit/system/test_simulator.py",
    # What depends on the machine, the adapter or the program; those of each are in BY_ADAPTER.
    "backends/dap/conversation.py: debugger restart": _DIED,
    "backends/lldb/command_line/lldb_console.py: debugger restart": _DIED,
    "backends/": READ,
    "symbols/dwarf/": READ,
    "system/program_streams.py": READ,
    "system/supervised_process.py": READ,
    "cli/client.py": "tests/unit/cli/test_client.py",
    "daemon/": "tests/unit/daemon/test_process.py",
    "mcp/": "tests/unit/mcp/test_hints.py",
    "ui/": "tests/ui/test_page_server.py",
}
