"""Formats values of Python's own types and of well-known libraries' types.

The methods of these types are known to change nothing and to return soon for small values; large
values are only described. A type counts as known only if its module has the type under its name, so
that no class of the program is mistaken for one. The elements of a known container are formatted
like any other value.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SMALL_ARRAY = 16  # elements that are shown whole
_LARGE_ARRAY = 2_000_000  # items that are looked through for the least and the greatest
_ROWS = 3  # rows of a data frame
_NODES = 40  # nodes of a sympy expression
_DEPTH, _ARGUMENTS = 3, 6  # of one that is written without its printer
_OPERATORS = {"Add": " + ", "Mul": "*", "Pow": "**"}
_NUMBERS = "biuf"
# Types of the standard library whose repr() is short and runs no code of a program.
_OWN = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "datetime": ("date", "timedelta"),
    "uuid": ("UUID",),
    "re": ("Pattern", "Match"),
    "pathlib": ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"),
    "array": ("array",),
    "ipaddress": ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network"),
    "zoneinfo": ("ZoneInfo",),
}
_ZONES = frozenset({"datetime", "zoneinfo"})
_dict_of: Any = type.__dict__["__dict__"].__get__
_mro_of: Any = type.__dict__["__mro__"].__get__
_module_of: Any = type.__dict__["__module__"].__get__
_name_of: Any = type.__dict__["__name__"].__get__
_Function = type(lambda: None)
_Member = type(_Function.__dict__["__globals__"])
_HIDDEN = frozenset({"_sa_instance_state", "_state"})  # of an object-relational mapper's rows


def module_of(kind: type) -> str:
    """Return the module of a known type; "" for a type that only claims to be of one."""
    module = _module_of(kind)
    if type(module) is not str:
        return ""
    loaded = sys.modules.get(module)
    names = getattr(loaded, "__dict__", {})
    name = _name_of(kind)
    # Anyone can set `__module__` of a class; the module's own dictionary decides.
    if type(names) is not dict or names.get(name) is not kind:
        # Pathlib's, and those of compiled modules, are found where they are exported.
        public = getattr(sys.modules.get(module.partition(".")[0]), "__dict__", {})
        if public.get(name) is not kind:
            return ""
    return module


def may_be_known(kind: type) -> bool:
    """Return whether a type claims to be one of a known library; few do, and many are asked."""
    module = _module_of(kind)
    top = module.partition(".")[0].lstrip("_") if type(module) is str else ""
    return top in _LIBRARIES or top in _OWN


def library_file(kind: type) -> str:
    """Return the file of a type's module; "" if it is not known."""
    module = _module_of(kind)
    loaded = sys.modules.get(module) if type(module) is str else None
    file = getattr(loaded, "__dict__", {}).get("__file__")
    return file if type(file) is str else ""


def has_fixed_text(kind: type) -> bool:
    """Return whether a value of a known library's type always has the same text."""
    is_sympy = module_of(kind).partition(".")[0] == "sympy"
    return is_sympy and _derives(kind, _named_type("sympy.core.basic", "Basic"))


def has_mocks() -> bool:
    """Return whether a value may be a mock, which derives from one of its library's types."""
    return "unittest.mock" in sys.modules


def known_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    """Format a value of a known type; "" for any other."""
    for base in _mro_of(kind)[:-1]:
        if _name_of(base) == "NonCallableMock" and module_of(base) == "unittest.mock":
            return _mock_text(value, kind, write)
    module = module_of(kind)
    if not module:
        return ""
    top = module.partition(".")[0].lstrip("_")
    try:
        if top in _OWN and _name_of(kind) in _OWN[top]:
            text = repr(value) if top != "array" else repr(value[:_SMALL_ARRAY])
            return text if top != "array" or len(value) <= _SMALL_ARRAY else f"{text}…"
        make = _LIBRARIES.get(top)
        return make(value, kind, write) if make is not None else ""
    except Exception:  # noqa: BLE001 - of another version of a library
        return ""


def shown_fields(stored: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Drop the library's own fields from a model object's fields."""
    return [one for one in stored if one[0][:1] != "_" or _is_shown(*one)]


def is_always_shown(name: str) -> bool:
    """Return whether a field of a name is shown, whatever its value is."""
    return name[:2] != "__" and name not in _HIDDEN


def _is_shown(name: str, one: Any) -> bool:
    if name[:2] == "__" and name[-2:] == "__":
        return False
    return not (name in _HIDDEN and module_of(type(one)).startswith(("sqlalchemy.", "django.")))


def has_repr(kind: type) -> bool:
    """Return whether a type defines the text of its values."""
    bases = _mro_of(kind)[:-1]
    return any("__repr__" in _dict_of(base) or "__str__" in _dict_of(base) for base in bases)


def has_own_text(kind: type, *, is_element: bool) -> bool:
    """Return whether a type's own Python code writes its values, and says more than their fields.

    What dataclasses, attrs and pydantic generate lists the fields. An `is_element` of a container
    is written by its `__repr__`, not by its `__str__`.
    """
    for base in _mro_of(kind)[:-1]:
        names = _dict_of(base)
        if "__attrs_attrs__" in names or _module_of(base) == "pydantic.main":
            return False
        for name in ("__repr__",) if is_element else ("__str__", "__repr__"):
            found = names.get(name)
            if type(found) is _Function:
                return not ("__dataclass_fields__" in names and hasattr(found, "__wrapped__"))
    return False


def _time_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    del write
    if _name_of(kind) not in ("datetime", "time", "timezone"):
        return ""
    zone = getattr(value, "tzinfo", None)
    is_plain = zone is None or module_of(type(zone)).lstrip("_") in _ZONES
    return repr(value) if is_plain else ""


def _mock_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    stored = value.__dict__ if type(value.__dict__) is dict else {}
    parts = []
    name = stored.get("_mock_name")
    if type(name) is str:
        parts.append(f"name={name!r}")
    count = stored.get("_mock_call_count", 0)
    last = stored.get("_mock_call_args")
    if type(count) is int and count:
        text = ""
        if isinstance(last, tuple) and tuple.__len__(last) in (2, 3):
            given, named = list(tuple.__iter__(last))[-2:]
            words = [write(one) for one in given] + [f"{k}={write(v)}" for k, v in named.items()]
            text = f", last ({', '.join(words)})"
        parts.append(f"{count} call{'s' * (count != 1)}{text}")
    returned = stored.get("_mock_return_value")
    if returned is not None and _name_of(type(returned)) not in ("_SentinelObject", _name_of(kind)):
        parts.append(f"return_value={write(returned)}")
    return f"{_name_of(kind)}({', '.join(parts)})"


def _numpy_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    numpy: Any = sys.modules["numpy"]
    if isinstance(value, numpy.generic):
        return "" if value.dtype.hasobject else " ".join(repr(value).split())
    if _name_of(kind) != "ndarray":
        return ""
    dtype, size = value.dtype, int(value.size)
    # repr() would call `__repr__` of the elements.
    if dtype.hasobject:
        first = [write(one) for one in value.flat[:3].tolist()]
        return f"array(shape {value.shape}, dtype object, first {', '.join(first)})"
    if size <= _SMALL_ARRAY:
        return " ".join(repr(value).split())
    facts = [f"shape {value.shape}", f"dtype {dtype}"]
    if dtype.kind in _NUMBERS and size <= _LARGE_ARRAY:
        plain = value
        if dtype.kind == "f":
            missing = numpy.isnan(value)
            count = int(missing.sum())
            plain = value[~missing] if count else value
            facts.append(f"NaN {count}")
        if plain.size:
            facts[2:2] = [f"min {plain.min()!s}", f"max {plain.max()!s}"]
        facts += _hash_of(numpy.ascontiguousarray(value).data)
    return f"array({', '.join(facts)})"


def _hash_of(octets: Any) -> list[str]:
    """Return a hash, by which equal values of two processes or runs are known."""
    # The program may not have imported it; numpy's own files do.
    zlib: Any = sys.modules.get("zlib")
    return [f"hash {zlib.crc32(octets):08x}"] if zlib is not None else []


def _torch_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    torch: Any = sys.modules["torch"]
    # The exact types: operations of a subclass are code of the program.
    if kind not in (torch.Tensor, torch.nn.Parameter):
        return ""
    name, plain = str(value.dtype).rpartition(".")[2], value.detach()
    is_near = plain.device.type == "cpu" and plain.layout is torch.strided
    if not is_near or "numpy" not in sys.modules or plain.is_quantized or name == "bfloat16":
        return f"tensor(shape {tuple(plain.shape)}, dtype {name})"
    # The same memory; torch's own operations start threads.
    array = plain.resolve_conj().resolve_neg().numpy()
    numpy: Any = sys.modules["numpy"]
    text = _numpy_text(array, numpy.ndarray, write)
    return f"tensor{text.removeprefix('array')}" if text.startswith("array") else ""


def _pandas_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    name = _name_of(kind)
    if name == "DataFrame":
        rows, columns = value.shape
        # Only the first rows are read.
        head = value.iloc[:_ROWS]
        shown = []
        for at in range(min(columns, 6)):
            cells = ", ".join(write(one) for one in head.iloc[:, at].tolist())
            more = ", …" if rows > _ROWS else ""
            shown.append(f"{value.columns[at]}=[{cells}{more}]")
        more = f", … {columns - len(shown)} more" if columns > len(shown) else ""
        return f"DataFrame({rows} x {columns}: {', '.join(shown)}{more})"
    if name == "Series" or name.endswith("Index"):
        size = len(value)
        first = value.iloc[:6] if name == "Series" else value[:6]
        words = [write(one) for one in first.tolist()]
        more = f", … {size - len(words)} more" if size > len(words) else ""
        label = f"{value.name}: " if type(value.name) is str else ""
        return f"{name}({label}[{', '.join(words)}{more}], {value.dtype})"
    if name in {"Timestamp", "Timedelta"}:
        return repr(value)
    return ""


def _sympy_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    del write
    # A printer that is not loaded yet would be imported by str(), in another order than the
    # program's own, and again for each value while that fails.
    if not all(_is_loaded(name) for name in ("sympy", "sympy.printing.str")):
        return ""
    printable = _named_type("sympy.core._print_helpers", "Printable")
    basic = _named_type("sympy.core.basic", "Basic")
    if not (_derives(kind, printable) or _derives(kind, basic)):
        return ""
    # str() of a large expression may take very long, so its nodes are counted first.
    count, waiting, read = 0, [value], None
    while waiting and count <= _NODES:
        one = waiting.pop()
        count += 1
        if _derives(type(one), basic):
            # By the slot: `args` is a property, which some types compute.
            read = read or _dict_of(basic)["_args"].__get__
            waiting += read(one)
    if _derives(kind, basic):
        return str(value) if count <= _NODES else ""
    rows, columns = getattr(value, "shape", None) or (1, 1)  # a matrix that can be changed
    return str(value) if rows * columns <= _NODES else ""


def structure_text(value: Any, kind: type) -> str:
    """Format an expression of sympy by its stored fields alone; "" for any other value.

    Where sympy itself is recorded, a call of its printer would be recorded as the program's own.
    """
    basic = _named_type("sympy.core.basic", "Basic")
    if basic is None or not _derives(kind, basic):
        return ""
    try:
        return _expression_text(value, basic, _DEPTH)
    except Exception:  # noqa: BLE001 - of another version of sympy
        return ""


def _expression_text(value: Any, basic: Any, depth: int) -> str:
    kind = type(value)
    name: str = _name_of(kind)
    if not _derives(kind, basic):
        return repr(value) if kind is int or kind is str else f"<{name}>"
    atom = _atom_text(value, kind)
    if atom:
        return atom
    arguments = _dict_of(basic)["_args"].__get__(value)
    if not arguments or not depth:
        return f"{name}(\u2026)" if arguments else name
    parts = [_expression_text(one, basic, depth - 1) for one in arguments[:_ARGUMENTS]]
    parts += ["\u2026"] if len(arguments) > _ARGUMENTS else []
    if name not in _OPERATORS:
        return f"{name}({', '.join(parts)})"
    if name != "Add":
        parts = [f"({one})" if _needs_brackets(one) else one for one in parts]
    return _OPERATORS[name].join(parts)


def _atom_text(value: Any, kind: type) -> str:
    """Format a symbol or a number of sympy; "" for any other expression."""
    symbol, number = _stored_field(value, kind, "name"), _stored_field(value, kind, "_mpf_")
    above, below = _stored_field(value, kind, "p"), _stored_field(value, kind, "q")
    if type(symbol) is str:
        return symbol
    if type(above) is int and type(below) is int:
        return str(above) if below == 1 else f"{above}/{below}"
    if type(number) is tuple:
        sign, mantissa, exponent = (int(one) for one in number[:3])
        return repr((-mantissa if sign else mantissa) * 2.0**exponent)
    return ""


def _needs_brackets(text: str) -> bool:
    """Return whether a factor or power has an operator outside of all its own brackets."""
    depth = 0
    for one in text:
        depth += (one == "(") - (one == ")")
        if not depth and one in " */-":
            return True
    return False


def _stored_field(value: Any, kind: type, name: str) -> Any:
    """Read a slot of an object, or the plain number that its class has in its place."""
    for base in _mro_of(kind):
        one = _dict_of(base).get(name)
        if type(one) is _Member:
            return one.__get__(value)
        if one is not None:
            return one if type(one) is int else None
    return None


def _derives(kind: type, base: Any) -> bool:
    """Return whether a class derives from another; `in` would compare by a metaclass's method."""
    # No generator: it is done for each node of an expression.
    for one in _mro_of(kind):  # noqa: SIM110
        if one is base:
            return True
    return False


def _named_type(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), "__dict__", {}).get(name)


def _is_loaded(name: str) -> bool:
    """Return whether a module has been imported to its end."""
    names = getattr(sys.modules.get(name), "__dict__", {})
    # Where importlib keeps it; a module without one was not made by an import.
    return "__spec__" in names and not getattr(names["__spec__"], "_initializing", False)


def _sqlalchemy_text(value: Any, kind: type, write: Callable[[Any], str]) -> str:
    if _name_of(kind) not in ("Row", "LegacyRow"):
        return ""
    names = list(value._fields)[:8]
    values = tuple(value)
    pairs = [f"{name}={write(values[at])}" for at, name in enumerate(names)]
    more = f", … {len(value) - len(pairs)} more" if len(value) > len(pairs) else ""
    return f"Row({', '.join(pairs)}{more})"


_LIBRARIES: dict[str, Callable[[Any, type, Callable[[Any], str]], str]] = {
    "datetime": _time_text,
    "numpy": _numpy_text,
    "pandas": _pandas_text,
    "sympy": _sympy_text,
    "sqlalchemy": _sqlalchemy_text,
    "torch": _torch_text,
}
