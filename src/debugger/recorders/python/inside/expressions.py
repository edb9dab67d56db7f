"""Compiles the user's expressions, and evaluates them with a frame's variables."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


class CompiledExpression:
    """An expression compiled once, or the error of its compilation."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.error = ""
        self.code: Any = None
        # Of variables and attributes: those outside of nested code, and all.
        self.own_names: set[str] = set()
        self.names: tuple[str, ...] = ()
        self._is_nested = False
        try:
            self.code = compile(self.text, "<expression>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.error = f"SyntaxError: {getattr(error, 'msg', None) or error}"
            return
        kind = type(self.code)
        inner = [one for one in self.code.co_consts if type(one) is kind]
        # A lambda or comprehension becomes a code object of its own. It cannot read the mapping
        # that is given to eval as locals, so all names are passed as globals then.
        self._is_nested = bool(inner)
        self.own_names = {*self.code.co_names}
        found = dict.fromkeys(self.code.co_names)
        while inner:
            code = inner.pop()
            found.update(dict.fromkeys(code.co_names))
            inner += [one for one in code.co_consts if type(one) is kind]
        self.names = tuple(found)

    def value(self, names: dict[str, Any], around: dict[str, Any]) -> Any:
        """Evaluate the expression; `around` are the globals, all that nested code in it sees."""
        if self._is_nested:
            return eval(self.code, {**around, **names})  # noqa: S307 - the user's own
        return eval(self.code, around, names)  # noqa: S307


def evaluate_in_frame(
    parts: Any, write: Any, expression: Any, names: dict[str, Any], frame: FrameType
) -> tuple[Any, str]:
    """Evaluate an expression with a frame's variables; an error is a text.

    A name that the frame does not have is looked up in the enclosing functions that still run.
    """
    if expression.error:
        return None, expression.error
    has_ended = ""
    try:
        try:
            return expression.value(names, frame.f_globals), ""
        except NameError:
            outer, has_ended = parts.enclosing_variables(frame)
            if not outer:
                raise
            return expression.value({**outer, **names}, frame.f_globals), ""
    # Also SystemExit and KeyboardInterrupt of the user's expression must not end the program.
    except BaseException as error:  # noqa: BLE001 - none of it is the program's
        kind, text = type(error).__name__, write.raised(error)
        if type(error) is NameError:
            text += has_ended
        return None, f"{kind}: {text}" if text else kind
