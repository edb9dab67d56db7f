"""Recognizes what the bits of a pointer alone say: text, a fill pattern, a small number. Pure.

Sources of the patterns: the documentation of the Visual C++ runtime and of Windows' heap,
AddressSanitizer's flags (`malloc_fill_byte`), jemalloc's `opt.junk`, mimalloc's `MI_DEBUG_*`,
gperftools' debugallocation.cc (`kMagicUninitializedByte`, `kMagicDeletedByte`),
`-ftrivial-auto-var-init` of GCC and Clang, mallopt(3) (`M_PERTURB`), Go's `-d=clobberdead`, and
linux/poison.h.
"""

from __future__ import annotations

import errno

WORD_MASK = (1 << 64) - 1
NEAR_ZERO = 0x10000  # nothing is mapped below it, by vm.mmap_min_addr
ERRNO_MAX = 4095  # the kernel's MAX_ERRNO
_HIGH_BITS = 0xFFFF_8000_0000_0000  # all equal in a canonical address of 48 bits
_HIGHEST_BYTE = 0xFF  # all bits equal also in a canonical address of 57 bits
_END_LEAST = 5  # bytes before the zeros that end a text; of fewer, an address has as many
_RUN_LEAST = 6  # bytes in a row of which words consist
_PRINTABLE_LEAST = 7  # bytes of 8, of which so many are letters, digits, or between words:
_WORDLIKE_LEAST = 6
_WORDLIKE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-./:,=")
_OFFSET_MAX = 0x1000  # a member of an object whose address is a pattern
_HALF = 32  # bits

# Each 32 bits wide; a pointer has it twice, or once with zeros above.
WORD_PATTERNS = {
    0xDEADBEEF: "a common mark of memory that is freed or not set",
    0xBAADF00D: "how Windows' LocalAlloc marks memory that is not set",
    0xFEEEFEEE: "how Windows' HeapFree marks freed memory",
    0xDEADDEAD: "how Go's -d=clobberdead marks dead variables",
    0xDEADC0DE: "a common mark of freed memory",
    0xCAFEBABE: "a common mark, and the first bytes of a Java class",
}
# One byte, in all eight.
_BYTE_PATTERNS = {
    0xCC: "how Visual C++ fills locals that are not set",
    0xCD: "how Visual C++ fills new heap memory, and gperftools' debugging malloc freed memory",
    0xDD: "how Visual C++ fills freed heap memory",
    0xFD: "how Visual C++ guards the ends of heap blocks",
    0xAB: "how gperftools' debugging malloc fills new memory, and Windows guards heap blocks' ends",
    0xBE: "how AddressSanitizer fills new heap memory",
    0xA5: "how jemalloc fills new heap memory",
    0x5A: "how jemalloc fills freed heap memory",
    0xD0: "how mimalloc fills new heap memory",
    0xDF: "how mimalloc fills freed heap memory",
    0xAA: "how Clang fills locals that are not set (-ftrivial-auto-var-init=pattern)",
    0xFE: "how GCC fills locals that are not set (-ftrivial-auto-var-init=pattern)",
    0x6B: "how Linux fills freed kernel memory",
}
_SHORT_BYTES = frozenset({0xCC, 0xCD, 0xDD, 0xFD, 0xAB})  # also seen in 32 bits
_LIST_POISON = {
    0xDEAD000000000100: "how Linux marks the next pointer of a removed list entry",
    0xDEAD000000000122: "how Linux marks the previous pointer of a removed list entry",
}
_ALL_BYTES = 0x0101_0101_0101_0101
_FOUR_BYTES = 0x0101_0101


def describe_pattern(value: int, fill: int | None = None) -> str | None:
    """Name the fill pattern that a value is, or lies at most 4 KiB above; else None.

    `fill` is the value of MALLOC_PERTURB_ in the program's environment: glibc fills freed memory
    with it, and new memory with its complement.
    """
    found = [(pattern, words) for pattern, words in _patterns(fill) if pattern <= value]
    if not found:
        return None
    pattern, words = max(found)
    distance = value - pattern
    if distance > _OFFSET_MAX:
        return None
    return f"{distance:#x} above {pattern:#x}, {words}" if distance else words


def _patterns(fill: int | None) -> list[tuple[int, str]]:
    known = list(_LIST_POISON.items())
    for word, words in WORD_PATTERNS.items():
        known += [(word, words), (word << _HALF | word, words)]
    if fill is None:
        known += [(byte * _ALL_BYTES, words) for byte, words in _BYTE_PATTERNS.items()]
    else:
        # What this run is known to do takes precedence over what others do.
        own = {fill & 0xFF: "freed", ~fill & 0xFF: "new"}
        for byte, words in {**_BYTE_PATTERNS, **own}.items():
            text = f"how glibc fills {words} memory, by MALLOC_PERTURB_" if byte in own else words
            known.append((byte * _ALL_BYTES, text))
    known += [(byte * _FOUR_BYTES, _BYTE_PATTERNS[byte]) for byte in _SHORT_BYTES]
    return known


def describe_text(value: int) -> str | None:
    """Quote the bytes of a value, in the order of memory, if they are text.

    Of random bits, as a hash has, about three in a thousand are taken for text.
    """
    data = value.to_bytes(8, "little")
    written = data.rstrip(b"\0")
    if len(set(data)) == 1 or not (_is_end_of_text(written) or _is_text(data)):
        return None
    return "".join(chr(one) if _is_printable(one) else f"\\x{one:02x}" for one in data)


def describe_repeated_byte(value: int) -> str | None:
    """Describe a value whose bytes are all equal, as memset and overlong input leave it."""
    byte = value & 0xFF
    if value != byte * _ALL_BYTES:
        return None
    letter = f" (`{chr(byte)}`)" if _is_printable(byte) else ""
    return f"each of its bytes is {byte:#04x}{letter}"


def _is_end_of_text(written: bytes) -> bool:
    """Return whether bytes before zeros are text: all printable, and all but one of words."""
    is_long = len(written) >= _END_LEAST and all(map(_is_printable, written))
    return is_long and sum(one in _WORDLIKE for one in written) >= len(written) - 1


def _is_text(data: bytes) -> bool:
    wordlike = [one in _WORDLIKE for one in data]
    run = max(len(one) for one in "".join("x" if one else " " for one in wordlike).split(" "))
    printable = sum(_is_printable(one) or one in b"\t\n" for one in data)
    if run >= _RUN_LEAST or printable == len(data):
        return True
    return printable >= _PRINTABLE_LEAST and sum(wordlike) >= _WORDLIKE_LEAST


def _is_printable(byte: int) -> bool:
    return 0x20 <= byte < 0x7F and byte != ord("`")  # noqa: PLR2004 - ASCII; backticks quote it


def describe_number(value: int) -> str | None:
    """Describe a value near 0 as the number that it is; None for other values, and for 0."""
    if 0 < value < NEAR_ZERO:
        return f"the number {value}, or {value} bytes from a null pointer"
    negative = value - (1 << 64)
    if not -ERRNO_MAX <= negative < 0:
        return None
    if negative == -1:
        return "the number -1, as MAP_FAILED and other errors are"
    name = errno.errorcode.get(-negative)
    return f"the number {negative}" + (f", -{name} as an error" if name else "")


def is_kernel_half(value: int) -> bool:
    """Return whether x86-64 has an address in the half that no program has, but for vsyscall."""
    return value & _HIGH_BITS == _HIGH_BITS


def is_canonical(value: int) -> bool | None:
    """Test whether x86-64 can have an address; None where it depends on the size of page tables."""
    high = value & _HIGH_BITS
    if high in {0, _HIGH_BITS}:
        return True
    return None if value >> 56 in {0, _HIGHEST_BYTE} else False
