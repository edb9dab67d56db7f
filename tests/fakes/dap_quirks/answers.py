"""Quirks of answers: wrong, empty, late, excessive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dap_messages import Wait, event, failure, is_event, is_response, response

from dap_quirks.table import Turn, edit, set_up

if TYPE_CHECKING:
    from dap_messages import Item, Json
    from dap_session import Session


def _on_failure(items: list[Item], body: Json | None) -> list[Item]:
    """Turn a failure into a success with this body."""
    out: list[Item] = []
    for item in items:
        if is_response(item) and not item["success"]:
            stamp = {key: item[key] for key in ("request_seq", "command")}
            out.append(response(body) | stamp)
        else:
            out.append(item)
    return out


def _failure_text(items: list[Item]) -> str:
    """The message of the failure among the items."""
    return next(
        (item["message"] for item in items if isinstance(item, dict) and "message" in item), ""
    )


@edit("evaluate-error-as-success-text")
def evaluate_error_as_success_text(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb's repl answers success with `error: …` text."""
    if not turn.asks("evaluate"):
        return items
    return _on_failure(
        items, {"result": f"error: {_failure_text(items)}\n", "variablesReference": 0}
    )


@edit("evaluate-error-as-type")
def evaluate_error_as_type(turn: Turn, items: list[Item]) -> list[Item]:
    """Rdbg answers success with type NameError."""
    if not turn.asks("evaluate"):
        return items
    body = {"result": f"#<NameError: {_failure_text(items)}>", "type": "NameError"}
    return _on_failure(items, body | {"variablesReference": 0})


@edit("empty-error-message-with-body-format")
def empty_error_message(_turn: Turn, items: list[Item]) -> list[Item]:
    """Js-debug leaves `message` empty and fills `body.error.format`."""
    for item in items:
        if isinstance(item, dict) and "message" in item:
            item["message"] = ""
    return items


@edit("stale-variables-succeed-empty")
def stale_variables_succeed_empty(turn: Turn, items: list[Item]) -> list[Item]:
    """A stale variablesReference succeeds with no variables."""
    return _on_failure(items, {"variables": []}) if turn.asks("variables") else items


@edit("empty-stack-while-running")
def empty_stack_while_running(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb's `stackTrace` succeeds with no frames while the program runs."""
    if not turn.asks("stackTrace"):
        return items
    return _on_failure(items, {"stackFrames": [], "totalFrames": 0})


@edit("slow:REQUEST:MS")
def slow(turn: Turn, items: list[Item], command: str, milliseconds: str) -> list[Item]:
    """Attach by pid takes debugpy 1.05 s; some requests are slow."""
    return [Wait(int(milliseconds)), *items] if turn.asks(command) else items


@edit("huge-output:N")
def huge_output(turn: Turn, items: list[Item], count: str) -> list[Item]:
    """A program may print faster than anybody reads: N lines, one event each."""
    if not turn.asks("configurationDone"):
        return items
    lines = [
        event("output", category="stdout", output=f"line {number}\n")
        for number in range(int(count))
    ]
    return [*items[:1], *lines, *items[1:]]


@edit("crlf-output")
def crlf_output(_turn: Turn, items: list[Item]) -> list[Item]:
    r"""With lldb stdout and stderr come merged through a pty, with `\r\n`."""
    for item in items:
        if is_event(item, "output"):
            text = item["body"]["output"].replace("\n", "\r\n")
            item["body"] |= {"output": text, "category": "stdout"}
    return items


@edit("refuses:COMMAND")
def refuses(turn: Turn, items: list[Item], command: str) -> list[Item]:
    """netcoredbg 3.1 refuses the variables of frames that are the runtime's own."""
    refusal = failure(f"error: Failed command '{command}'")
    return (
        [one | refusal if is_response(one) else one for one in items]
        if turn.asks(command)
        else items
    )


@edit("numbers-as-text")
def numbers_as_text(turn: Turn, items: list[Item]) -> list[Item]:
    """netcoredbg 3.1 writes the numbers of messages as text: `"seq":"7","request_seq":"4"`."""
    for item in items:
        if isinstance(item, dict):
            item["seq"] = "7"
            if is_response(item):
                item["request_seq"] = str(turn.request["seq"])
    return items


@set_up("huge-value:N")
def huge_value(session: Session, length: str) -> None:
    """A string may be as long as the program's memory: the local `text` has N characters."""
    session.text_length = int(length)


@set_up("self-referring-value")
def self_referring_value(session: Session) -> None:
    """A value may contain itself: the child of the local `self` is `self` again."""
    session.has_self_reference = True
