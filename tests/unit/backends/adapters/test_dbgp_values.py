"""Packets of DBGp are cut and read; values are written as PHP writes them."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

import pytest

from debugger.backends.adapters.xdebug import dbgp_values

ONE, TWO = 'children="1" numchildren="1"', 'children="1" numchildren="2"'
FIELD = '<property name="x" type="int">1</property>'
ITEMS = FIELD.replace('"x"', '"0"') + FIELD.replace('"x"', '"k"').replace(">1<", ">2<")
SPACE = 'xmlns="urn:debugger_protocol_v1"'


def packet(body: str) -> bytes:
    text = f'<?xml version="1.0" encoding="iso-8859-1"?>\n{body}'.encode()
    return b"%d\0%b\0" % (len(text), text)


def prop(text: str) -> ET.Element:
    return ET.fromstring(f"<r {SPACE}>{text}</r>")[0]


def test_packets_are_cut_wherever_the_stream_is():
    stream = packet(f"<init {SPACE} fileuri='file:///a%20b.php'/>") + packet(f"<response {SPACE}/>")
    decoder = dbgp_values.PacketDecoder()
    found = [one for at in range(len(stream)) for one in decoder.add_bytes(stream[at : at + 1])]
    assert [one.tag.partition("}")[2] for one in found] == ["init", "response"]
    assert dbgp_values.to_path(found[0].get("fileuri") or "") == "/a b.php"


@pytest.mark.parametrize(
    ("stream", "says"), [(b"x\0<a/>\0", "invalid literal"), (b"9\0<not xml>>\0", "no element")]
)
def test_what_is_no_dbgp_is_an_error(stream, says):
    with pytest.raises(ValueError, match=says):
        list(dbgp_values.PacketDecoder().add_bytes(stream))


def test_a_command_carries_its_data_in_base64():
    sent = dbgp_values.encode_command("eval", 7, "-d 0", "$é")
    words = sent.rstrip(b"\0").split()
    assert words[:-1] == [b"eval", b"-i", b"7", b"-d", b"0", b"--"]
    assert base64.b64decode(words[-1]).decode() == "$é"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('<property type="int">42</property>', "42"),
        ('<property type="float">2</property>', "2.0"),
        ('<property type="bool">1</property>', "true"),
        ('<property type="null"/>', "null"),
        ('<property type="string" size="3" encoding="base64">YSdi</property>', "'a\\'b'"),
        # `a`, a byte that is no UTF-8, and the beginning of a letter whose rest Xdebug has cut off.
        (
            '<property type="string" size="9" encoding="base64">Yf/i</property>',
            r"'a\xff'… (9 bytes)",
        ),
        ('<property type="array" children="0" numchildren="0"/>', "[]"),
        ('<property type="array" children="1" numchildren="3"/>', "[…]"),
        (
            f'<property type="array" children="1" numchildren="2">{ITEMS}</property>',
            "[0 => 1, 'k' => 2]",
        ),
    ],
)
def test_a_value_is_written_as_php_writes_it(written, shown):
    assert dbgp_values.format_property(prop(written)) == shown


def test_functions_are_found_with_their_classes(tmp_path):
    file = tmp_path / "a.php"
    file.write_text(
        "<?php\nnamespace Shop;\nfunction free() {}\nfinal class Cart {\n"
        "  function add() { if (1) { } }\n}\nfunction &late() {}\n"
    )
    found = dbgp_values.list_functions(str(file))
    assert found == [("", "free"), ("Shop\\Cart", "add"), ("", "late")]
    assert dbgp_values.list_functions(str(tmp_path / "none.php")) == []


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("class@anonymous&#0;/x.php:3$0", "class@anonymous␀/x.php:3$0"),
        ("a\0b\x01c&#27;d", "a␀b␁c␛d"),
        ("a&#10;b&#228;&amp;&#38;", "a\nbä&&"),
        ("a\ufffeb", "a\ufffdb"),
    ],
)
def test_characters_that_xml_does_not_have_are_drawn(written: str, name: str) -> None:
    body = f'<?xml version="1.0"?><property classname="{written}"/>'.encode()
    (packet,) = dbgp_values.PacketDecoder().add_bytes(b"%d\0%b\0" % (len(body), body))
    assert packet.get("classname") == name
    assert dbgp_values.read_class(packet) == name.partition("␀")[0]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("$o", "O {x: 1}"),
        ("$o->x", "1"),
        ("$o?->x", "1"),
        ("$a['k']", "2"),
        ('$a[ "k" ]', "2"),
        ("$a[0]", "1"),
        ("$a[$key]", "2"),
        ("$a->k", None),
        ("$o->y", None),
        ("$o->x()", None),
        ("$a['k'] + 1", None),
        ("$a[$none]", None),
    ],
)
def test_a_path_is_found_in_the_variables_that_were_sent(path, shown):
    sent = [
        prop(f'<property name="$o" type="object" classname="O" {ONE}>{FIELD}</property>'),
        prop(f'<property name="$a" type="array" {TWO}>{ITEMS}</property>'),
        prop('<property name="$key" type="string" size="1">k</property>'),
    ]
    found = dbgp_values.find_part(sent, path)
    assert (dbgp_values.format_property(found) if found is not None else None) == shown
