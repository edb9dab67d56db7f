"""Describes arrays and tensors by shape, type, range, NaNs and a hash. Runs in the debuggee.

Only numpy and torch are asked, and only where the program has imported them. Facts are of numpy
1.24 to 2.4 and torch 1.13 to 2.15.
"""

from __future__ import annotations

import sys
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BYTES_MAX = 1 << 28  # of an array whose values are read
_SMALL = 1 << 14  # elements that torch computes in one thread, whatever the program has set
_ITEMS_MAX = 10_000  # of a list or dictionary of arrays
_NUMBERS = "biuf"  # kinds of numpy's types that have an order


class Described:
    """Stands for a value, and shows its description."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Return the description."""
        return self._text


def describe(value: Any) -> Any:
    """Return the description of an array, a tensor, or a container of them; else the value."""
    found = _describe_array(value)
    if found is not None:
        return Described(found[0])
    kind = type(value).__name__
    items = list(value.values()) if kind in {"dict", "OrderedDict"} else value
    if kind not in {"list", "tuple", "dict", "OrderedDict"} or not 0 < len(items) <= _ITEMS_MAX:
        return value
    texts = [_describe_array(one) for one in items]
    if not all(texts):
        return value
    missing = sum(one[1] for one in texts if one)
    joined = zlib.crc32("\n".join(one[0] for one in texts if one).encode())
    note = f" nan={missing}" if missing else ""
    return Described(f"{kind} of {len(items)} arrays{note} hash={joined:08x}")


def _describe_array(value: Any) -> tuple[str, int] | None:
    """Return an array's description and the number of its NaNs; None for another value."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    # The exact types: operations of a subclass are code of the program.
    if numpy is not None and type(value) is numpy.ndarray:
        return _describe_values(value.dtype, value.shape, value)
    is_tensor = torch is not None and type(value) in {torch.Tensor, torch.nn.Parameter}
    return _describe_tensor(torch, value) if is_tensor else None


def _describe_tensor(torch: Any, value: Any) -> tuple[str, int]:
    kind = str(value.dtype).rpartition(".")[2]
    head = f"{kind} {list(value.shape)}"
    if value.device.type != "cpu" or value.layout is not torch.strided or value.is_quantized:
        # A copy from a device waits for all that runs there, which may be what hangs.
        return f"{head} on {value.device}, values not read", 0
    plain = value.detach()
    if kind == "bfloat16":  # numpy has no such type
        if plain.numel() > _SMALL:
            return f"{head}, values not read", 0
        plain = plain.float()
    try:
        # The same memory. torch's own operations start threads, which hang in a forked process.
        array = plain.resolve_conj().resolve_neg().numpy()
    except (RuntimeError, TypeError, AttributeError):
        return f"{head}, values not read", 0
    return _describe_values(kind, value.shape, array)


def _describe_values(kind: Any, shape: Any, array: Any) -> tuple[str, int]:
    numpy: Any = sys.modules["numpy"]
    head = f"{kind} {list(shape)}"
    if array.nbytes > _BYTES_MAX or array.dtype.hasobject:
        return f"{head}, values not read", 0
    words, missing = [head], 0
    if array.size and array.dtype.kind in _NUMBERS:
        flat = array.reshape(-1)
        if array.dtype.kind == "f":
            missing = int(numpy.count_nonzero(flat != flat))  # noqa: PLR0124 - a NaN alone differs from itself
        # These leave NaNs out.
        words += [
            f"min={_format_number(numpy.fmin.reduce(flat))}",
            f"max={_format_number(numpy.fmax.reduce(flat))}",
        ]
    if missing:
        words.append(f"nan={missing}")
    words.append(f"hash={zlib.crc32(numpy.ascontiguousarray(array).data):08x}")
    return " ".join(words), missing


def _format_number(value: Any) -> str:
    return f"{float(value):.6g}" if value.dtype.kind == "f" else str(value)
