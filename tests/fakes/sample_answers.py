"""A sample of every kind of answer."""

from __future__ import annotations

from debugger.model import answers as a
from debugger.model.group_merge import MergedValue, StackBranch, StackPlace
from debugger.questions.adapter_suite.answer import AdapterSuite, SceneOutcome, SceneView
from debugger.questions.calls.answer import Calls, DecisionView, LifeView, RoundsView, StepView
from debugger.questions.diff.answer import (
    Diff,
    DifferenceView,
    DiffOfProbes,
    PointView,
    ProbedColumn,
    ProbedPair,
    ProbedPlace,
)
from debugger.questions.group.answer import (
    GroupCrash,
    GroupHang,
    GroupStacks,
    GroupStatus,
    GroupStop,
    GroupValues,
    JoinedMember,
    MemberBranches,
    MemberEnd,
    MemberProbes,
    MemberView,
    MergedState,
    NamedValues,
    RemoteShellEnd,
)
from debugger.questions.group.laggards import judge_waits
from debugger.questions.group.member_branches import BranchSplit, BranchWay
from debugger.questions.group.member_differences import ComparedLocation, ExpressionDifference
from debugger.questions.group.member_wait import MemberWait
from debugger.questions.hang.answer import Hang, HangGroup, LoopView, VariedView
from debugger.questions.holds.answer import (
    BreakingStatement,
    FalseCheck,
    Holds,
    Invariant,
    InvariantOutcome,
    OperandChange,
)
from debugger.questions.path.answer import PathAnswer
from debugger.questions.probe.answer import (
    Probe,
    ProbeChange,
    ProbeColumn,
    ProbeCount,
    ProbePlace,
    ProbeRow,
)
from debugger.questions.recordings.answer import (
    CallRow,
    RunView,
    SavedRun,
    SavedRuns,
    ValueView,
    VaryView,
)
from debugger.questions.runner.answer import (
    CallerView,
    Crash,
    DrawnCall,
    DrawnCallTree,
    EvidenceDrawing,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
    ReachingCondition,
    ThreadGroup,
)
from debugger.questions.test.answer import (
    DroppedPromiseView,
    FailedTest,
    MadeView,
    SpectrumRow,
    SpectrumView,
    SuiteAnswer,
)
from debugger.questions.try_change.answer import Expected, Tried
from debugger.questions.who_wrote.answer import WhoWrote, WriterView
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
    Why,
    WhyLink,
)
from debugger.session.group import SilentMember

MAIN = a.FrameView(1, "main", "/src/main.c", 60)
SUM_TO = a.FrameView(0, "sum_to", "/src/main.c", 42, 5)
SOURCE = (
    a.SourceLine(40, "int sum = 0;"),
    a.SourceLine(41, "for (int i = 0; i < n; i++) {"),
    a.SourceLine(42, "  sum += calculate(i);", current=True),
    a.SourceLine(43, "}"),
)
LOCALS = (
    a.VariableView("n", "100", "int"),
    a.VariableView("sum", "4950", "int"),
    a.VariableView("i", "49", "int"),
)
REACHED = ReachingCondition(SUM_TO, "n > 0", is_true=True)
STOP = a.Stop(
    session="main",
    state="stopped",
    reason="breakpoint",
    raw_reason="breakpoint",
    thread=1,
    frame=SUM_TO,
    source=SOURCE,
    locals=LOCALS,
    locals_total=3,
    stack=(SUM_TO, MAIN),
    stack_total=2,
    output=(a.OutputLine("stdout", "step 48", 1), a.OutputLine("stdout", "step 49", 2)),
    output_total=2,
    hit_breakpoints=(1,),
)


def breakpoint_at(**changed) -> a.BreakpointView:
    """Return a bound breakpoint at main.c:42, with what is `changed`."""
    shown = {
        "id": 1,
        "kind": "line",
        "verified": True,
        "file": "/src/main.c",
        "line": 42,
        "requested_line": 42,
        "function": None,
        "address": None,
        "condition": None,
        "hit_count": None,
        "log": None,
        "enabled": True,
    }
    return a.BreakpointView(**{**shown, **changed})


STATUS = a.Status(
    "main", "stopped", "/src/app", ("-n", "5 6"), "/src", 42, "lldb-dap", "dap", 2, 3, "breakpoint"
)
BACKTRACE = a.Backtrace(1, (SUM_TO, MAIN), 2)
EVIDENCE = EvidenceView(
    "e1",
    "debugger crash -- ./a",
    "/src",
    "2026-01-02T03:04:05+00:00",
    "null pointer: x",
    ("/src/a.c",),
    ("/src/a.c",),
)
PATH_RUN = RunView("./a b", exit_code=1, took_s=0.25)
EXAMPLES: tuple[a.Answer, ...] = (
    a.LaunchConfigurations(
        "/w/.vscode/launch.json",
        (
            a.ConfigurationView("App", "debugpy", "launch", "start app.py"),
            a.ConfigurationView("Web", "chrome", "launch", "", "is not read"),
            a.ConfigurationView(
                "All", "compound", "", 'start --config "All"', parts=("App", "Web")
            ),
        ),
        ("not read: /w/.zed/debug.json",),
    ),
    STOP,
    a.Value("sum", "4950", "int"),
    a.Assignment("sum", "4950", "7", "int"),
    a.Variables(LOCALS, 3, SUM_TO),
    a.Children("v1", 10, 2, (a.VariableView("[2]", "20"), a.VariableView("[3]", "{…}", ref="v2"))),
    a.Source("/src/main.c", SOURCE, 60, "sum_to"),
    BACKTRACE,
    a.Backtraces((BACKTRACE, a.Backtrace(2, (SUM_TO, MAIN), 2)), 2),
    a.CurrentFrame(1, MAIN, SOURCE, LOCALS, 3),
    a.Threads(
        (
            a.ThreadView(1, "worker", "running"),
            a.ThreadView(2, "main", "stopped", SUM_TO, current=True),
        ),
        2,
    ),
    breakpoint_at(),
    a.BreakpointList(
        (breakpoint_at(hits=2), breakpoint_at(id=2, line=None, requested_line=99, verified=False))
    ),
    a.Removed((1, 2)),
    STATUS,
    a.Sessions((STATUS,), "main"),
    a.Output((a.OutputLine("stdout", "a", 1), a.OutputLine("stderr", "b", 2)), 0, 2),
    a.Events(
        (
            a.EventView(7, 10**9, "stop", "main", 1, "here", {}, "sum_to", "/src/main.c", 42),
            a.EventView(8, 15 * 10**8, "output", "main", None, "step", {"stream": "stdout"}),
        ),
        8,
        0,
        2,
    ),
    a.Ended(("main",)),
    a.Raw("info line", "Line 42\nof main.c"),
    a.MemoryView("0x10", "6869", "string", (a.MemoryRow("0x10", '"hi"'),), 2, 4),
    a.MemoryWritten("0x10", "00", "2a", 1),
    a.RegistersView((a.RegisterGroupView("General", (a.RegisterView("rax", "0x1"),)),), ("Float",)),
    a.Disassembled(
        (
            a.InstructionView("0x10", "90", "nop", "work", "/src/main.c", 7, "x++;", current=True),
            a.InstructionView("0x11", "c3", "ret", "work", "/src/main.c", 7),
        )
    ),
    a.ModulesView((a.ModuleView("app", "/src/app", "0x400000"),), 1),
    a.ExceptionInfo("ValueError", "no", ("KeyError: 3",), "Traceback…\nValueError: no", 1, SUM_TO),
    a.Doctor(
        (
            a.Check("gdb", "ok", "", "14.1", "/usr/bin/gdb"),
            a.Check("lldb", "error", "not found", fix="debugger setup lldb"),
        )
    ),
    a.Settings("/c.toml", exists=True, settings=(a.Setting("defaults.adapter", "gdb", "file"),)),
    a.HostReplies(
        (
            a.HostReply(("h1",), "two\nlines\n", {"a": 1}),
            a.HostReply(("h2",), "", error=a.HostFailure("NOT_FOUND", "h2: no such host", "x")),
        )
    ),
    a.DaemonStatus(running=True, pid=7, version="1.0", uptime_s=61.0, socket="/s", sessions=("x",)),
    a.Text("done"),
    a.AdapterList(
        (
            a.AdapterView("gdb", "installed", ("c", "c++"), "16.3", "/usr/bin/gdb"),
            a.AdapterView("delve", "missing", ("go",), how="debugger setup delve --yes"),
        )
    ),
    a.Installation("delve", "checked", ("go install dlv",), works=False, problem="no go here"),
    a.Traces(
        (
            a.TracedView(
                1, "audio::*", 3, ("audio::mix", "audio::fade"), 2, ("audio::mix",), (90_000,)
            ),
            a.TracedView(None, "wrok", 0, why="no function is called so", near_names=("work",)),
            a.TracedView(3, "work", 1, ("work",)),
        ),
        4,
    ),
    a.LiveReadings(
        (
            a.LiveReading("counter", "3", "int"),
            a.LiveReading("pair", "{…}", "Pair", "v1", (a.VariableView("x", "1", "int"),), 1),
            a.LiveReading("nosuch", None, error="no such name"),
        )
    ),
    AdapterSuite(
        "own",
        "loop.x",
        (
            SceneView("start to a breakpoint", SceneOutcome.WORKS, "loop.x:4", is_essential=True),
            SceneView("hit count", SceneOutcome.NOT_SUPPORTED, "own cannot do this"),
        ),
    ),
    Probe(
        "exited",
        places=(
            ProbePlace(
                "main.c:42",
                (
                    ProbeColumn(
                        "sum",
                        taken=900,
                        distinct=900,
                        minimum=ProbeCount("-7", 1, 900),
                        maximum=ProbeCount("898", 1, 899),
                        turn=ProbeChange(900, "898", "-7"),
                        outliers=(ProbeCount("-7", 1, 900),),
                    ),
                    ProbeColumn("zz", taken=900, failed=900, error="no zz", is_never_there=True),
                ),
                file="/src/main.c",
                line=42,
                function="sum_to",
                hits=1800,
                taken=900,
                names_in_scope=("sum", "i"),
                near_names=("sum",),
            ),
            ProbePlace(
                "other.c:9",
                (ProbeColumn("x"),),
                file="/src/other.c",
                line=9,
                when="x > 3",
                why="no code at other.c:9",
                nearest_lines=(7, 11),
            ),
        ),
        rows=(
            ProbeRow(0, 1, 0.1, ("0", "<no zz>")),
            ProbeRow(0, 900, 0.2, ("-7", "<no zz>"), thread=2),
        ),
        rows_total=900,
        means="logpoints",
        adapter="lldb-dap",
        took_s=1.5,
        exit_code=3,
        stopped="SIGUSR1",
        output=(a.OutputLine("stdout", "same", 1),),
        output_total=4,
        shows_output=True,
        notes=("hits of 2 processes",),
        evidence="e2",
    ),
    Crash(
        "crashed",
        cause="null pointer: node->next, node=0x0, in pop main.c:42",
        kind="null_pointer",
        signal="SIGSEGV",
        address="0x8",
        address_text="near null: 8 bytes from a null pointer",
        frame=SUM_TO,
        source=SOURCE,
        locals=(a.VariableView("node", "0x0"),),
        locals_total=1,
        callers=(CallerView(MAIN, "pop(list);", (a.VariableView("list", "0x5 {head: 0x0}"),)),),
        threads=(ThreadGroup(3, MAIN),),
        threads_total=4,
        output=(a.OutputLine("stdout", "same", 1), a.OutputLine("stdout", "same", 2)),
        output_total=5,
        traces_left_out=3,
        exit_signal="SIGSEGV",
        earlier=("index out of bounds (UBSan)",),
        notes=("freed in drop main.c:9",),
        evidence="e1",
    ),
    Hang(
        "deadlock",
        "deadlock of 2 threads: one waits for a, held by two, in pop main.c:42",
        pid=7,
        cpu=0.02,
        window_s=0.5,
        frame=SUM_TO,
        source=SOURCE,
        loop=LoopView(
            41,
            "for (int i = 0; i < n; i++) {",
            (41, 42),
            (VariedView("i", "1", "9"),),
            (a.VariableView("n", "10"),),
        ),
        groups=(
            HangGroup(1, ("one",), state="waits for a, held by two", frames=(SUM_TO, MAIN)),
            HangGroup(5, ("x", "y", "z"), state="runs", cpu=0.5),
        ),
        total=6,
        samples=2,
        output=(a.OutputLine("stdout", "begun", 1),),
        output_total=9,
        took_s=2.5,
        adapter="lldb-dap",
        notes=("it runs on, without the debugger",),
        evidence="e3",
    ),
    Why(
        "order->total",
        "main.c:42",
        "order->total=5 comes from the constant in pop main.c:42",
        value="5",
        meaning="a small number",
        frame=SUM_TO,
        event="SIGSEGV",
        links=(
            WhyLink(
                LinkKind.COMPUTED,
                LinkCertainty.RERUN,
                "computed",
                frame=SUM_TO,
                statement="order->total = total * 5;",
                thread='2 "worker"',
                stack=(MAIN,),
                old="0",
                new="5",
                details=("the block was allocated at main.c:12",),
                operands=(ValueOperand("total", "1", is_followed=True),),
            ),
            WhyLink(LinkKind.CONSTANT, LinkCertainty.INFERRED, "the constant 1", frame=MAIN),
        ),
        reached=(REACHED,),
        decided=(REACHED,),
        ended=ChainEnd.CONSTANT,
        ending="1 is a literal",
        runs=2,
        method="hardware watchpoints",
        took_s=1.5,
        notes=("once more",),
        evidence="e4",
    ),
    WhoWrote(
        "order->total",
        "check",
        "order->total=5 at check was last written: 4 → 5, in pop main.c:42",
        value="5",
        frame=SUM_TO,
        writers=(
            WriterView(SUM_TO, 4, 1, 4, "1", "2", "4", "5", (MAIN,), last=True, ways=2),
            WriterView(MAIN, 1, 5, 5, None, "7", None, "7", after=True),
        ),
        writes=4,
        later=1,
        method="a hardware watchpoint, in two runs",
        adapter="gdb",
        took_s=1.5,
        notes=("once more",),
        evidence="e4",
    ),
    Why(
        "total",
        "main.c:42",
        "total = 14 in sum_to at main.c:42 was written by add",
        value="14",
        frame=SUM_TO,
        links=(
            WhyLink(
                LinkKind.WRITTEN,
                LinkCertainty.RERUN,
                "written",
                frame=MAIN,
                statement="total += square",
                old="5",
                new="14",
                operands=(ValueOperand("square", "9"),),
            ),
        ),
        ending="none of its operands stands out",
        runs=2,
        method="hardware watchpoints",
        took_s=0.5,
        notes=("once more",),
        evidence="e5",
    ),
    Holds(
        (
            Invariant(
                "n <= cap",
                InvariantOutcome.BROKEN,
                true=20,
                first_false=FalseCheck(
                    "line", 21, SUM_TO, (MAIN,), (OperandChange("n", "4", "5"),)
                ),
                made_false_by=BreakingStatement(
                    SUM_TO, "n++;", (MAIN,), (OperandChange("n", "4", "5"),)
                ),
            ),
        ),
        checks=21,
        means="recorder",
        runs=2,
        took_s=0.5,
        evidence="e6",
    ),
    SuiteAnswer(
        "failed",
        "pytest",
        cause="assertion failed: assert 3 == 4 with sum=3, in test_sum main.c:42",
        kind="assertion",
        test="test_sum.py::test_sum",
        exception=a.ExceptionView(
            "AssertionError", "assert 3 == 4\n +  where", ("KeyError: x",), "table[key]"
        ),
        frame=SUM_TO,
        source=SOURCE,
        values=(a.VariableView("sum", "3"),),
        locals=(a.VariableView("i", "49"),),
        locals_total=2,
        made=(
            MadeView(MAIN, "return 3", (), 1, "main() → 3"),
            MadeView(SUM_TO, "sum = main()", (a.VariableView("sum", "3"),)),
        ),
        dropped_promises=(DroppedPromiseView(SUM_TO, "save();", MAIN, "rejected", 2),),
        spectrum=SpectrumView(
            *(2, ("test_a",), (SpectrumRow(SUM_TO, 43, "sum = 3", 1, (REACHED,)),), 3, 0.5),
            left_out=(SpectrumRow(SUM_TO, 44, "sum = 4", 2, (REACHED,)),),
        ),
        inside=MAIN,
        callers=(CallerView(MAIN, "sum_to(5)", (a.VariableView("x", "5"),)),),
        others=(FailedTest("test_b", "no", MAIN),),
        failed=3,
        summary="3 failed",
        errors=("E: x",),
        output=(a.OutputLine("stderr", "said", 1),),
        output_total=4,
        exit_code=1,
        took_s=1.5,
        method="recorded inside Python",
        notes=("once",),
        evidence="e5",
    ),
    Tried(
        session="main",
        verdict="order->total == 100 holds (order->total=100)",
        state="stopped",
        tried_at=SUM_TO,
        assigned=(a.Assignment("count", "1", "8", "int"),),
        until="main.c:60",
        reached=True,
        expected=Expected(
            "order->total == 100", True, "true", (a.VariableView("order->total", "100"),)
        ),
        reason="goto",
        frame=MAIN,
        source=SOURCE,
        locals=(a.VariableView("i", "3"),),
        locals_total=1,
        output=(a.OutputLine("stdout", "round 1", 4),),
        output_total=1,
        differs=(a.ChangedValue("noise", "1", "2", "long"),),
        differs_total=3,
        took_s=1.5,
        adapter="gdb",
        notes=("once more",),
        evidence="e5",
    ),
    EvidenceList((EVIDENCE,), dropped=2),
    EvidenceShown(EVIDENCE, "crash: x\nmore"),
    EvidenceDrawing(
        "e2",
        trees=(
            DrawnCallTree(
                "./shop 3",
                "exited with status 1",
                "time",
                (DrawnCall(0, "main()", 1.0, facts="12 ms"), DrawnCall(1, "pop(n=1)", 0.5)),
            ),
        ),
    ),
    SavedRuns(
        (
            SavedRun("before", "path", "./shop 3", "/src", "2026-01-02T03:04:05+00:00", 0),
            SavedRun(
                "after",
                "diff --function main",
                "./shop",
                "/src",
                "2026-01-02T03:04:06+00:00",
                exit_signal="SIGSEGV",
                changed=("/src/shop.py",),
            ),
        )
    ),
    PathAnswer(
        runs=(PATH_RUN,),
        calls=4,
        functions=2,
        files=1,
        rows=(
            CallRow(0, 0, "main", "/src/main.c", 60, total_ms=12.0),
            CallRow(
                1,
                1,
                "pop",
                "/src/main.c",
                42,
                count=3,
                raised=1,
                total_ms=4.0,
                arguments=(VaryView("n", 3, 3, "1", "3", "1", "3"),),
                value=VaryView("", 2, 1, "0", "0"),
                errors=("KeyError: 3",),
            ),
        ),
        rows_total=2,
        evidence="e2",
    ),
    Calls(
        run=PATH_RUN,
        function="pop",
        seen=3,
        chosen=2,
        lives=(
            LifeView(
                1,
                "pop",
                "/src/main.c",
                42,
                (ValueView("n", "1"),),
                items=(
                    StepView(43, "n += 1", (ValueView("n", "2", "1"),)),
                    RoundsView(44, 3, 3, 1, varies=(VaryView("i", 3, 3, "0", "2", "0", "2"),)),
                    StepView(44, "for i in n:", depth=1),
                ),
                decisions=(DecisionView(45, "if n:", ((46, 1),), (0,)),),
                value="2",
                took_ms=1.5,
                passed=5,
            ),
        ),
        others=(
            LifeView(2, "pop", "/src/main.c", 42, (ValueView("n", "9"),), error="KeyError: 9"),
        ),
    ),
    Diff(
        runs=(PATH_RUN, PATH_RUN),
        what="pop",
        common=7,
        left_only=1,
        right_only=2,
        parted_after=5,
        before=(PointView("call", "pop", "/src/main.c", 42, "", (ValueView("n", "1"),)),),
        left=(PointView("line", "pop", "/src/main.c", 43, "n += 1"),),
        differences=(
            DifferenceView(PointView("return", "top", "/src/main.c", 9), "returned", "1", "2"),
        ),
        notes=("only the first thread is compared",),
    ),
    DiffOfProbes(
        runs=(PATH_RUN, PATH_RUN),
        places=(
            ProbedPlace(
                "main.c:42",
                (
                    ProbedColumn("sum", 5, 1, 5, 5, "10", "11"),
                    ProbedColumn("node", 5, addresses=5),
                    ProbedColumn("zz", error="no zz"),
                ),
                file="/src/main.c",
                line=42,
                right_line=44,
                function="sum_to",
                when="i > 1",
                left_hits=6,
                right_hits=5,
                names_in_scope=("sum", "i"),
                near_names=("sum",),
            ),
            ProbedPlace(
                "other.c:9",
                (),
                file="/src/other.c",
                line=9,
                right_hits=1,
                left_why="it was never entered",
            ),
        ),
        common=4,
        different=1,
        left_only=1,
        right_only=1,
        parted_after=4,
        before=(
            ProbedPair(
                ProbeRow(0, 4, 0.1, ("6", "0x5000010", "<no zz>")),
                ProbeRow(0, 4, 0.1, ("6", "0x6000010", "<no zz>")),
            ),
        ),
        parted=ProbedPair(
            ProbeRow(0, 5, 0.1, ("10", "0x5000010", "<no zz>")),
            ProbeRow(0, 5, 0.1, ("11", "0x6000010", "<no zz>")),
        ),
        after=(
            ProbedPair(ProbeRow(0, 6, 0.1, ("15", "0x5000010", "<no zz>")), None),
            ProbedPair(None, ProbeRow(1, 1, 0.1, ())),
        ),
        notes=("A: hits of 2 processes",),
        evidence="e3",
    ),
    EvidenceReport(2, "", "/tmp/report.md", stale=1, bytes=90),
    GroupStacks(
        "train",
        4,
        (MergedState("running", ("0", "1", "2", "3")),),
        (
            StackBranch(("2",), (StackPlace("take", "/src/train.py", 13),)),
            StackBranch(("0", "1", "3"), (StackPlace("wait", "/src/train.py", 14),)),
        ),
        "line",
        silent=(SilentMember("3", "late"),),
    ),
    MemberBranches(
        "train",
        ("0", "1", "2"),
        (
            BranchSplit(
                "/src/train.py",
                "step",
                13,
                2,
                4,
                1,
                (BranchWay(14, "", ("0", "1")), BranchWay(0, "ValueError", ("2",))),
                "if batch:",
            ),
        ),
        1,
        40,
        "exited with status 1",
        "e4",
    ),
    GroupHang(
        "train",
        3,
        judge_waits(
            [
                MemberWait("0", "waits", StackPlace("step", "/job/a.py", 4), "Barrier.wait"),
                MemberWait("1", "failed", detail="ended by SIGKILL"),
                MemberWait("2", "computes", StackPlace("load", "/job/b.py", 9, "return x")),
            ]
        ),
        notes=("its output has a traceback: KeyError: 'workers', in plan a.py:3",),
    ),
    GroupCrash(
        "train",
        3,
        "1",
        "ended by SIGSEGV",
        Crash(outcome="crashed", cause="ended by SIGSEGV"),
        others=GroupStacks(
            "train",
            1,
            (MergedState("running", ("0",)),),
            (StackBranch(("0",), (StackPlace("wait", "/src/train.py", 14),)),),
            "line",
        ),
        ends=(MemberEnd(("0", "2"), "ended by SIGTERM", 0.3),),
    ),
    JoinedMember("train", "/job/train", (), ()),
    RemoteShellEnd("train", 1),
    GroupValues("train", 2, (NamedValues("step", (MergedValue("120", ("0",)),)),)),
    MemberProbes(
        "train",
        ("main", "0", "1"),
        (
            ComparedLocation(
                "train.py:13",
                "step",
                "/job/train.py",
                13,
                (MergedValue("5", ("0", "1")),),
                5,
                (
                    ExpressionDifference(
                        "loss", 3, (MergedValue("0.5", ("0",)), MergedValue("nan", ("1",))), 1
                    ),
                    ExpressionDifference("step", None, (MergedValue("4", ("0", "1")),)),
                ),
            ),
        ),
        "exited with status 0",
        1.25,
        "e3",
    ),
    GroupStop("train", "2", STOP, others=(MergedState("running", ("0", "1")),)),
    GroupStatus(
        "train",
        "2",
        (MergedState("stopped", ("2",)),),
        (MemberView("2", "train.2", 812, "stopped", "train.py:13"),),
    ),
)
