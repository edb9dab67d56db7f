"""Serves one editor over a connection to the daemon: all requests that there are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from debugger.editors import (
    breakpoint_requests,
    inspection_requests,
    memory_requests,
    running_requests,
    session_requests,
)
from debugger.editors.editor_channel import EditorChannel
from debugger.editors.editor_conversation import EditorConversation, Handler
from debugger.questions.runner.command_call import CommandCall

HANDLERS: Final[Mapping[str, Handler]] = {
    "initialize": session_requests.initialize,
    "launch": session_requests.launch,
    "attach": session_requests.attach,
    "configurationDone": session_requests.configuration_done,
    "restart": session_requests.restart,
    "setBreakpoints": breakpoint_requests.set_breakpoints,
    "setFunctionBreakpoints": breakpoint_requests.set_function_breakpoints,
    "setInstructionBreakpoints": breakpoint_requests.set_instruction_breakpoints,
    "setExceptionBreakpoints": breakpoint_requests.set_exception_breakpoints,
    "dataBreakpointInfo": breakpoint_requests.data_breakpoint_info,
    "setDataBreakpoints": breakpoint_requests.set_data_breakpoints,
    "continue": running_requests.continue_program,
    "next": running_requests.step_over,
    "stepIn": running_requests.step_in,
    "stepOut": running_requests.step_out,
    "stepInTargets": running_requests.step_in_targets,
    "gotoTargets": running_requests.goto_targets,
    "goto": running_requests.goto,
    "stepBack": running_requests.no_way_back,
    "reverseContinue": running_requests.no_way_back,
    "restartFrame": running_requests.no_way_back,
    "threads": inspection_requests.threads,
    "stackTrace": inspection_requests.stack_trace,
    "scopes": inspection_requests.scopes,
    "variables": inspection_requests.variables,
    "evaluate": inspection_requests.evaluate,
    "setVariable": inspection_requests.set_variable,
    "setExpression": inspection_requests.set_expression,
    "source": inspection_requests.source,
    "exceptionInfo": inspection_requests.exception_info,
    "completions": inspection_requests.completions,
    "readMemory": memory_requests.read_memory,
    "writeMemory": memory_requests.write_memory,
    "disassemble": memory_requests.disassemble,
    "modules": memory_requests.modules,
    "loadedSources": memory_requests.loaded_sources,
    "terminateThreads": running_requests.no_single_threads,
}
# Answered past a request that hangs.
URGENT: Final[Mapping[str, Handler]] = {
    "pause": running_requests.pause,
    "terminate": session_requests.terminate,
    "disconnect": session_requests.disconnect,
    "cancel": session_requests.cancel,
    "takeOver": session_requests.take_over,
    "handBack": session_requests.hand_back,
}


async def serve_editor(
    call: CommandCall, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one editor until it disconnects."""
    await EditorConversation(call, EditorChannel(reader, writer), HANDLERS, URGENT).run()
