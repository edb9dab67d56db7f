"""Holds the numbers of DWARF's tags, attributes, forms and operations (DWARF 5, section 7).

Also reads the numbers and texts that sections consist of.
"""

from __future__ import annotations

from typing import Final

_MORE: Final = 0x80
_BITS_MAX: Final = 140  # of a LEB128 number: twice what any form needs
_BITS: Final = 0x7F
_SIGN: Final = 0x40


def read_uleb128(content: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned LEB128 number, and where it ends (DWARF 5, 7.6).

    Raises:
        IndexError: The content ends before it, or it has more bytes than any number.
    """
    # Most numbers have one byte, and millions are read of a large program.
    byte = content[at]
    if byte < _MORE:
        return byte, at + 1
    value, shift = byte & _BITS, 7
    while byte & _MORE:
        at += 1
        byte = content[at]
        value |= (byte & _BITS) << shift
        shift += 7
        if shift > _BITS_MAX:
            raise IndexError(f"no number ends before {at:#x}")
    return value, at + 1


def read_sleb128(content: bytes, at: int) -> tuple[int, int]:
    """Read a signed LEB128 number, and where it ends."""
    value = shift = 0
    byte = _MORE
    while byte & _MORE:
        byte = content[at]
        at += 1
        value |= (byte & _BITS) << shift
        shift += 7
    return (value - (1 << shift) if byte & _SIGN else value), at


def read_unsigned(content: bytes, at: int, size: int) -> int:
    """Read a little-endian number without a sign.

    Raises:
        IndexError: The content ends before it.
    """
    raw = content[at : at + size]
    if len(raw) != size:
        raise IndexError(f"{size} bytes at {at:#x} lie beyond the end")
    return int.from_bytes(raw, "little")


def read_signed(content: bytes, at: int, size: int) -> int:
    """Read a little-endian number with a sign."""
    return int.from_bytes(content[at : at + size], "little", signed=True)


def read_text(content: bytes, at: int) -> str:
    """Read a text that ends with a zero byte."""
    end = content.find(b"\0", at)
    return content[at : end if end >= 0 else None].decode("utf-8", "replace")


# Each group is named as in the standard, without DW_ and with the letters in capitals.
TAG_ARRAY: Final = 0x01
TAG_CLASS: Final = 0x02
TAG_ENUMERATION: Final = 0x04
TAG_PARAMETER: Final = 0x05
TAG_LEXICAL_BLOCK: Final = 0x0B
TAG_MEMBER: Final = 0x0D
TAG_POINTER: Final = 0x0F
TAG_REFERENCE: Final = 0x10
TAG_COMPILE_UNIT: Final = 0x11
TAG_STRUCTURE: Final = 0x13
TAG_SUBROUTINE_TYPE: Final = 0x15
TAG_TYPEDEF: Final = 0x16
TAG_UNION: Final = 0x17
TAG_VARIANT: Final = 0x19
TAG_INHERITANCE: Final = 0x1C
TAG_INLINED: Final = 0x1D
TAG_POINTER_TO_MEMBER: Final = 0x1F
TAG_SUBRANGE: Final = 0x21
TAG_BASE: Final = 0x24
TAG_CONST: Final = 0x26
TAG_ENUMERATOR: Final = 0x28
TAG_SUBPROGRAM: Final = 0x2E
TAG_TEMPLATE_TYPE: Final = 0x2F
TAG_VARIANT_PART: Final = 0x33
TAG_VARIABLE: Final = 0x34
TAG_VOLATILE: Final = 0x35
TAG_RESTRICT: Final = 0x37
TAG_NAMESPACE: Final = 0x39
TAG_UNSPECIFIED: Final = 0x3B
TAG_UNSPECIFIED_PARAMETERS: Final = 0x18
TAG_TEMPLATE_PACK: Final = 0x4107
TAG_PARTIAL_UNIT: Final = 0x3C
TAG_RVALUE_REFERENCE: Final = 0x42
TAG_ATOMIC: Final = 0x47
TAG_CALL_SITE: Final = 0x48
TAG_CALL_SITE_PARAMETER: Final = 0x49
TAG_GNU_CALL_SITE: Final = 0x4109
TAG_GNU_CALL_SITE_PARAMETER: Final = 0x410A

AT_LOCATION: Final = 0x02
AT_NAME: Final = 0x03
AT_BYTE_SIZE: Final = 0x0B
AT_BIT_OFFSET: Final = 0x0C
AT_BIT_SIZE: Final = 0x0D
AT_STMT_LIST: Final = 0x10
AT_LOW_PC: Final = 0x11
AT_HIGH_PC: Final = 0x12
AT_LANGUAGE: Final = 0x13
AT_DISCR: Final = 0x15
AT_DISCR_VALUE: Final = 0x16
AT_COMP_DIR: Final = 0x1B
AT_CONST_VALUE: Final = 0x1C
AT_CONTAINING_TYPE: Final = 0x1D
AT_PRODUCER: Final = 0x25
AT_UPPER_BOUND: Final = 0x2F
AT_ABSTRACT_ORIGIN: Final = 0x31
AT_ARTIFICIAL: Final = 0x34
AT_CALLING_CONVENTION: Final = 0x36
AT_COUNT: Final = 0x37
AT_MEMBER_LOCATION: Final = 0x38
AT_DECL_FILE: Final = 0x3A
AT_DECL_LINE: Final = 0x3B
AT_DECLARATION: Final = 0x3C
AT_ENCODING: Final = 0x3E
AT_EXTERNAL: Final = 0x3F
AT_FRAME_BASE: Final = 0x40
AT_SPECIFICATION: Final = 0x47
AT_TYPE: Final = 0x49
AT_VIRTUALITY: Final = 0x4C
AT_ENTRY_PC: Final = 0x52
AT_RANGES: Final = 0x55
AT_CALL_FILE: Final = 0x58
AT_CALL_LINE: Final = 0x59
AT_DATA_BIT_OFFSET: Final = 0x6B
AT_SIGNATURE: Final = 0x69
AT_ENUM_CLASS: Final = 0x6D
AT_LINKAGE_NAME: Final = 0x6E
AT_STR_OFFSETS_BASE: Final = 0x72
AT_ADDR_BASE: Final = 0x73
AT_RNGLISTS_BASE: Final = 0x74
AT_DEFAULTED: Final = 0x8B
AT_LOCLISTS_BASE: Final = 0x8C
AT_CALL_RETURN_PC: Final = 0x7D
AT_CALL_VALUE: Final = 0x7E
AT_CALL_ORIGIN: Final = 0x7F
AT_GNU_CALL_SITE_VALUE: Final = 0x2111
AT_DWO_NAME: Final = 0x76
AT_GNU_DWO_NAME: Final = 0x2130
AT_GNU_DWO_ID: Final = 0x2131
AT_GNU_RANGES_BASE: Final = 0x2132
AT_GNU_ADDR_BASE: Final = 0x2133

FORM_ADDR: Final = 0x01
FORM_BLOCK2: Final = 0x03
FORM_BLOCK4: Final = 0x04
FORM_DATA2: Final = 0x05
FORM_DATA4: Final = 0x06
FORM_DATA8: Final = 0x07
FORM_STRING: Final = 0x08
FORM_BLOCK: Final = 0x09
FORM_BLOCK1: Final = 0x0A
FORM_DATA1: Final = 0x0B
FORM_FLAG: Final = 0x0C
FORM_SDATA: Final = 0x0D
FORM_STRP: Final = 0x0E
FORM_UDATA: Final = 0x0F
FORM_REF_ADDR: Final = 0x10
FORM_REF1: Final = 0x11
FORM_REF2: Final = 0x12
FORM_REF4: Final = 0x13
FORM_REF8: Final = 0x14
FORM_REF_UDATA: Final = 0x15
FORM_INDIRECT: Final = 0x16
FORM_SEC_OFFSET: Final = 0x17
FORM_EXPRLOC: Final = 0x18
FORM_FLAG_PRESENT: Final = 0x19
FORM_STRX: Final = 0x1A
FORM_ADDRX: Final = 0x1B
FORM_REF_SUP4: Final = 0x1C
FORM_STRP_SUP: Final = 0x1D
FORM_DATA16: Final = 0x1E
FORM_LINE_STRP: Final = 0x1F
FORM_REF_SIG8: Final = 0x20
FORM_IMPLICIT_CONST: Final = 0x21
FORM_LOCLISTX: Final = 0x22
FORM_RNGLISTX: Final = 0x23
FORM_REF_SUP8: Final = 0x24
FORM_STRX1: Final = 0x25
FORM_STRX2: Final = 0x26
FORM_STRX3: Final = 0x27
FORM_STRX4: Final = 0x28
FORM_ADDRX1: Final = 0x29
FORM_ADDRX2: Final = 0x2A
FORM_ADDRX3: Final = 0x2B
FORM_ADDRX4: Final = 0x2C
FORM_GNU_ADDR_INDEX: Final = 0x1F01
FORM_GNU_STR_INDEX: Final = 0x1F02
FORM_GNU_REF_ALT: Final = 0x1F20
FORM_GNU_STRP_ALT: Final = 0x1F21

ATE_ADDRESS: Final = 0x01
ATE_BOOLEAN: Final = 0x02
ATE_COMPLEX_FLOAT: Final = 0x03
ATE_FLOAT: Final = 0x04
ATE_SIGNED: Final = 0x05
ATE_SIGNED_CHAR: Final = 0x06
ATE_UNSIGNED: Final = 0x07
ATE_UNSIGNED_CHAR: Final = 0x08
ATE_UTF: Final = 0x10
