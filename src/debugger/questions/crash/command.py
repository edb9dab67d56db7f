"""Defines the commands that explain a crash and that list kept evidence."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.questions.runner.question_arguments import (
    DEBUGGED_RUN,
    DEFAULT_RUN,
    GROUP,
    Force,
    QuestionOptions,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.group.answer import GroupCrash
    from debugger.questions.runner.answer import Crash
    from debugger.questions.runner.command_call import CommandCall
    from debugger.questions.runner.question_run import QuestionRun
    from debugger.questions.test.answer import SuiteAnswer

_LEAST_WIDTH, _MOST_WIDTH = 40, 500  # characters of a drawn line


@register_command("crash", group=GROUP)
async def crash(
    call: CommandCall,
    words: Annotated[
        tuple[str, ...], Argument("CMD", "what to run, after --; with --core, the program")
    ] = (),
    *,
    core: Annotated[
        str | None, Option("--core", help="what a program left when it crashed", metavar="FILE")
    ] = None,
    pid: Annotated[
        int | None, Option("--pid", help="wait for this process to crash", metavar="N")
    ] = None,
    options: Annotated[QuestionOptions, DEBUGGED_RUN] = DEFAULT_RUN,
    is_group: Annotated[
        bool, Option("--group", help="of CMD's processes: the first that fails, and the others")
    ] = False,
    keep: Annotated[bool, Option("--keep", help="leave it stopped where it crashed")] = False,
    raised: Annotated[
        bool,
        Option("--raised", help="stop at the first exception in its own code, also a caught one"),
    ] = False,
    no_why: Annotated[
        bool, Option("--no-why", help="do not follow the wrong value back, which may run CMD again")
    ] = False,
    test: Annotated[
        bool, Option("--test", help="CMD runs tests: the same as debugger test")
    ] = False,
    is_part: Annotated[
        bool, Option("--part", help="given by the daemon: of several hosts", is_hidden=True)
    ] = False,
) -> answers.Answer:
    """Run a command to its crash, and say why it crashed.

    CMD is what you would type: ./prog ARGS, python3 script.py, python -m MODULE, node x.js, a
    script with a shebang, a Go file or package. A signal, an uncaught exception, a panic, a failed
    assertion or a sanitizer's report is answered with its cause, source, values and callers. A
    program that was started is ended; an attached process keeps running.
    """
    if test:
        from debugger.questions.test.command import run_tests

        other = (core, pid, options.adapter, options.backend)
        if any(one is not None for one in other) or raised:
            raise DebuggerError(
                ErrorCode.USAGE, "--test takes a command alone", hint="debugger test -- CMD"
            )
        tested: SuiteAnswer = await run_tests(call, words, options=options, keep=keep)
        return tested
    requested = msgspec.structs.replace(options, words=words, core=core, pid=pid, keep=keep)
    if not is_group:
        return await _explain_crash(call, requested, raised=raised, no_why=no_why)
    if keep or raised:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--keep and --raised are for one process, not a group",
            hint="debugger crash --group -- CMD",
        )
    return await _explain_group_crash(call, requested, is_part=is_part)


async def _explain_group_crash(
    call: CommandCall, requested: QuestionOptions, *, is_part: bool
) -> GroupCrash:
    from debugger.model.group_labels import MAIN
    from debugger.questions.group import group_crash

    found = await group_crash.explain_group_crash(call, requested, is_part=is_part)
    is_runner = found.member == MAIN and found.crash.frame is None
    noted = _with_test_note(found.crash, requested.words) if is_runner else found.crash
    return msgspec.structs.replace(found, crash=noted)


async def _explain_crash(
    call: CommandCall, requested: QuestionOptions, *, raised: bool, no_why: bool
) -> Crash:
    from debugger.questions.crash import crash_stops
    from debugger.questions.runner.evidence_store import files_of
    from debugger.questions.runner.question_build import build_question, keep_evidence
    from debugger.questions.why.origin_line import serve_crash

    built = await build_question(call, requested, crash_stops.crash_breakpoints)
    if no_why:
        answer = await _find_crash_of_command(call, requested, built, raised=raised, no_why=True)
    else:
        async with serve_crash(call, built) as asking:
            answer = await _find_crash_of_command(
                call, requested, asking, raised=raised, no_why=False
            )
    frames = [answer.frame, *(one.frame for one in answer.callers)]
    summary = answer.cause or answer.outcome
    own = [*(["--raised"] if raised else []), *(["--no-why"] if no_why else [])]
    return keep_evidence(
        call, requested.repeat_command(own), answer, summary=summary, files=files_of(frames)
    )


async def _find_crash_of_command(
    call: CommandCall,
    requested: QuestionOptions,
    asking: QuestionRun,
    *,
    raised: bool,
    no_why: bool,
) -> Crash:
    """Find the crash, and the origin of its value unless it is not wished for."""
    import asyncio

    from debugger.questions.crash import crash_question
    from debugger.questions.crash.reported_crash import may_be_of_started
    from debugger.questions.why import java_trace
    from debugger.questions.why.origin_line import add_origin

    began = asyncio.get_running_loop().time()
    # Only Java follows the value of a crash from what the crash's own run shows.
    is_followed = asking.language == "java" and not (raised or no_why or asking.keep)
    chain = java_trace.CrashChain() if is_followed else None
    answer = await crash_question.find_crash(
        asking,
        takes_raised=raised,
        may_repeat=not no_why,
        on_crash=chain.read_once if chain is not None else None,
    )
    is_started = False
    if may_be_of_started(answer) and not raised:
        seen = await _find_crash_of_started(call, requested, asking)
        is_started, answer = seen is not None, seen or answer
    took_s = asyncio.get_running_loop().time() - began
    if answer.frame is None and answer.exit_code not in {0, None}:
        answer = _with_test_note(answer, requested.words)
    # A run to the crash of a started process is none of the program.
    if no_why or is_started:
        answer = msgspec.structs.replace(answer, why=None, why_compared=None)
    else:
        answer = await add_origin(call, asking, requested, answer, took_s, chain=chain)
    return answer


def _with_test_note(answer: Crash, words: tuple[str, ...]) -> Crash:
    """Add which question explains a failed test: the runner has handled its exception."""
    from debugger.questions.test.test_runners import is_test_command

    if not is_test_command(words):
        return answer
    note = f"a failed test is no crash: debugger test -- {shlex.join(words)}"
    return msgspec.structs.replace(answer, notes=(*answer.notes, note))


async def _find_crash_of_started(
    call: CommandCall, requested: QuestionOptions, asking: QuestionRun
) -> Crash | None:
    """Run a program again whose failure may be that of a process that it started."""
    from debugger.questions.crash import crash_question, crash_stops
    from debugger.questions.runner import started_processes
    from debugger.questions.runner.question_build import build_question

    following = await started_processes.follow_started(call, requested, asking)
    if following is None:
        return None
    again = await build_question(call, following, crash_stops.crash_breakpoints)
    found = await crash_question.find_crash(again)
    if found.outcome != "crashed":
        return None
    notes = (*found.notes, started_processes.follower_note(following))
    return msgspec.structs.replace(found, notes=notes)


@register_command("evidence list", group=GROUP, aliases=("evidence",), reads_only=True)
async def evidence_list(call: CommandCall) -> answers.Answer:
    """List the answers of questions, and which of them are stale."""
    return call.evidence.list_answers()


@register_command("evidence show", group=GROUP, reads_only=True)
async def evidence_show(
    call: CommandCall, number: Annotated[str, Argument("ID", "an answer: e1")]
) -> answers.Answer:
    """Show an answer again, as it was; it is stale if its source files changed since."""
    return call.evidence.show_answer(number)


@register_command("evidence draw", group=GROUP, reads_only=True)
async def evidence_draw(
    call: CommandCall,
    number: Annotated[str, Argument("ID", "an answer: e1")],
    file: Annotated[
        str | None, Argument("FILE", "FILE.svg or .png; without it, --json has the SVG")
    ] = None,
    *,
    text: Annotated[bool, Option("--text", help="in characters, for a terminal")] = False,
    width: Annotated[int, Option("--width", help="characters of a line", metavar="N")] = 80,
    force: Force = False,
) -> answers.Answer:
    """Draw an answer of probe or hang again, without another run; of path, its calls as data.

    The values of probe over the hits, and who waits for whom in a hang.
    """
    from debugger.output.html_page import picture_file_text
    from debugger.questions.runner.answer import EvidenceDrawing
    from debugger.questions.runner.picture_file import choose_file

    if not _LEAST_WIDTH <= width <= _MOST_WIDTH:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--width takes {_LEAST_WIDTH} to {_MOST_WIDTH} characters, not {width}",
            hint=f"debugger evidence draw {number} --text --width 80",
        )
    if text and file is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--text is printed, and not written to a file",
            hint=f"debugger evidence draw {number} --text",
        )
    drawing = call.evidence.draw_answer(number, width=width if text else None)
    if file is None:
        return drawing
    picture = choose_file(call, f"evidence draw {number}", "", file, ("svg", "png"), force=force)
    if not drawing.svg:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{drawing.id} is a tree of calls, which no picture has room for",
            hint="debugger path --html FILE.html -- CMD writes a page with it",
        )
    path = await picture.write_text(picture_file_text(drawing.svg))
    return EvidenceDrawing(drawing.id, picture=path)


@register_command("evidence export", group=GROUP, reads_only=True)
async def evidence_export(
    call: CommandCall,
    file: Annotated[
        str | None, Argument("FILE", "file for Markdown; without one it is printed")
    ] = None,
    *,
    html: Annotated[
        str | None,
        Option("--html", help="a page with pictures, and the sessions' stops", metavar="FILE"),
    ] = None,
    force: Force = False,
) -> answers.Answer:
    """Write all answers as one report, with the commands that reproduce them.

    FILE is Markdown. With --html it is a page of one file, without scripts: the answers with their
    pictures, and of each session the stops, the stacks where it is stopped, and the output.
    """
    from debugger.questions.crash.evidence_page import build_evidence_page
    from debugger.questions.crash.session_record import record_session
    from debugger.questions.runner.answer import EvidenceReport
    from debugger.questions.runner.evidence_store import no_evidence
    from debugger.questions.runner.picture_file import choose_file

    verb = "evidence export"
    page = None if html is None else choose_file(call, verb, "--html", html, ("html",), force=force)
    plain = None if file is None else choose_file(call, verb, "", file, (), force=force)
    if page is not None:
        sessions = [await record_session(call, one) for one in call.sessions.all_sessions()]
        shown = list(call.evidence.drawn_answers())
        if not shown and not sessions:
            raise no_evidence()
        text = build_evidence_page(shown, sessions, dropped=call.evidence.dropped)
        written = await page.write_text(text)
        stale = sum(bool(one.evidence.stale) for one, _ in shown)
        size = len(text.encode("utf-8", "replace"))
        if plain is None:
            return EvidenceReport(len(shown), "", written, stale, size)
    found = call.evidence.write_report()
    if plain is None:
        return found
    written = await plain.write_text(found.text)
    if page is not None:
        written = f"{written}, {page.path}"
    return msgspec.structs.replace(found, file=written, text="")
