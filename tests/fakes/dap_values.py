"""Scopes, variables and expressions of the fake adapter's stopped program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dap_messages import failure, response
from program_model import ITEM_COUNT

if TYPE_CHECKING:
    from dap_messages import Item, Json
    from dap_session import Session


def scopes(session: Session, arguments: Json) -> list[Item]:
    """List a frame's scopes; those of `work` keep its argument apart."""
    program = session.stopped_program
    frame = session.frame_index(arguments)
    names = [("Locals", "locals", False), ("Registers", "registers", True)]
    if program.work_line and frame == 0:
        names.insert(0, ("Arguments", "arguments", False))
    scopes = [
        {
            "name": name,
            "presentationHint": hint,
            "variablesReference": session.reference(hint, frame),
            "expensive": is_expensive,
        }
        for name, hint, is_expensive in names
    ]
    return [response({"scopes": scopes})]


def variables(session: Session, arguments: Json) -> list[Item]:
    """List the children of a scope or of a variable."""
    program = session.stopped_program
    reference = arguments["variablesReference"]
    if reference not in session.references:
        return [failure(f"stale reference {reference}")]
    kind, frame = session.references[reference]
    if kind == "items":
        start, count = arguments.get("start") or 0, arguments.get("count") or ITEM_COUNT
        if arguments.get("filter") == "named":
            return [response({"variables": []})]
        items = list(enumerate(program.items))[start : start + count]
        return [response({"variables": [_integer(f"[{key}]", item) for key, item in items]})]
    if kind == "registers":
        rip = _integer("rip", 0x401100 + program.line) | {"value": f"{0x401100 + program.line:#x}"}
        return [response({"variables": [rip]})]
    if kind == "self":
        return [response({"variables": [_structure("self", reference)]})]
    return [response({"variables": _frame_variables(session, kind, frame)})]


def _frame_variables(session: Session, kind: str, frame: int) -> list[Json]:
    program = session.stopped_program
    values = program.locals(frame)
    is_argument = kind == "arguments"
    variables = [
        _integer(name, value) for name, value in values.items() if (name == "n") == is_argument
    ]
    if "i" in values:
        variables.append(_items(session))
    if session.text_length and not is_argument:
        variables.append(_text(session))
    if session.has_self_reference and not is_argument:
        variables.append(_structure("self", session.reference("self", frame)))
    return variables


def _integer(name: str, value: int) -> Json:
    return {"name": name, "value": str(value), "type": "int", "variablesReference": 0}


def _items(session: Session) -> Json:
    return {
        "name": "items",
        "value": f"int [{ITEM_COUNT}]",
        "type": f"int [{ITEM_COUNT}]",
        "variablesReference": session.reference("items", 0),
        "indexedVariables": ITEM_COUNT,
    }


def _structure(name: str, reference: int) -> Json:
    return {
        "name": name,
        "value": "{...}",
        "type": "struct node *",
        "variablesReference": reference,
    }


def _text(session: Session) -> Json:
    value = '"' + "x" * session.text_length + '"'
    return {"name": "text", "value": value, "type": "char *", "variablesReference": 0}


def set_variable(session: Session, arguments: Json) -> list[Item]:
    """Change an integer."""
    program = session.stopped_program
    kind, frame = session.references.get(arguments["variablesReference"], ("", 0))
    name, value = arguments["name"], program.evaluate(arguments["value"], frame)
    if kind == "items" and name.strip("[]").isdecimal():
        program.items[int(name.strip("[]"))] = value
    elif kind in ("locals", "arguments") and name in program.locals(frame):
        program.locals(frame)[name] = value
    else:
        return [failure(f"no variable {name}")]
    return [response({"value": str(value), "type": "int", "variablesReference": 0})]


def evaluate(session: Session, arguments: Json) -> list[Item]:
    """Compute an expression in a frame."""
    program = session.stopped_program
    frame, text = session.frame_index(arguments), arguments["expression"].strip()
    structured: Json | None = None
    if text == "items" and "i" in program.locals(frame):
        structured = _items(session)
    elif text == "text" and session.text_length:
        structured = _text(session)
    elif text == "self" and session.has_self_reference:
        structured = _structure("self", session.reference("self", frame))
    if structured is None:
        structured = _integer(text, program.evaluate(text, frame))
    body = {key: value for key, value in structured.items() if key not in ("name", "value")}
    return [response({"result": structured["value"]} | body)]
