"""Follows a value of JavaScript back to its origin."""

from __future__ import annotations

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why.answer import Why
from debugger.questions.why.why_request import WhyRequest


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a program, and follow the value of an expression at a location back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there, NOT_SUPPORTED for what cannot be followed.
    """
    del call, question
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        "values of JavaScript are not followed yet",
        hint=f"debugger who-wrote '{request.expression}' --at {request.place} -- CMD",
    )
