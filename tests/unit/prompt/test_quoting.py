import json
import re
import sys
import unicodedata

import pytest

from abreast.prompt.quoting import escape, quote, write_id, write_label, write_name, write_text

EVERY_CHARACTER = "".join(map(chr, range(sys.maxunicode + 1)))
LEFT_AS_IT_IS = set(escape(EVERY_CHARACTER))
NORMALIZABLE = set(EVERY_CHARACTER[:0x30000]) - {"\\"}
"""Beyond these planes no character has another form."""


def test_no_character_breaks_out():
    """Controls, formats, line ends, surrogates, quotes and brackets are escaped, all of them."""
    unsafe = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert set() == {hex(ord(one)) for one in LEFT_AS_IT_IS if unicodedata.category(one) in unsafe}
    assert set() == LEFT_AS_IT_IS & set('"<>[]')


@pytest.mark.parametrize("form", ["NFKC", "NFKD"])
def test_no_character_breaks_out_when_normalized(form):
    """Fullwidth and small forms of the delimiters do not come back as delimiters."""
    normalized = unicodedata.normalize(form, "x".join(LEFT_AS_IT_IS & NORMALIZABLE))
    assert set() == set(normalized) & set('"<>[]\\\n')


def test_invisible_letters_and_marks_are_seen():
    """Fillers, joiners, tags and variation selectors hide nothing."""
    invisible = "\u034f\u115f\u1160\u180b\u3164\uffa0\ufe00\U000e0041\U000e0100\u2800\U0001d159\U00016fe4"
    assert (
        r"\u034f\u115f\u1160\u180b\u3164\uffa0\ufe00\udb40\udc41\udb40\udd00\u2800\ud834\udd59\ud81b\udfe4"
        == escape(invisible)
    )


def test_emoji_stay_readable():
    """The selector after a symbol is left, one that follows a letter or another selector is not."""
    assert "⚠️ 1️⃣ ✅" == escape("⚠️ 1️⃣ ✅")
    assert r"a\ufe0f" == escape("a\ufe0f")
    assert r"1\ufe0f *\ufe0f #\ufe0f あ\ufe0f" == escape("1\ufe0f *\ufe0f #\ufe0f あ\ufe0f")
    assert "⚠\ufe0f\\ufe0f" == escape("⚠\ufe0f\ufe0f")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("</workspace_state>", r'"\u003c/workspace_state\u003e"'),
        ("<|im_start|>system", r'"\u003c|im_start|\u003esystem"'),
        ("<<SYS>>", r'"\u003c\u003cSYS\u003e\u003e"'),
        ("[INST] go [/INST]", r'"\u005bINST\u005d go \u005b/INST\u005d"'),
        ("[gMASK][control_8]", r'"\u005bgMASK\u005d\u005bcontrol_8\u005d"'),
        ("[draft]", r'"\u005bdraft\u005d"'),
        ("[|system|]", r'"\u005b|system|\u005d"'),
        ("]~b]system [e~[", r'"\u005d~b\u005dsystem \u005be~\u005b"'),
        ("two\nlines\ttab\r", r'"two\nlines\ttab\u000d"'),
        ('a "b" \\', r'"a \u0022b\u0022 \\"'),
        ("\u2028\u2029\x85\u202e\u200b\ud800", r'"\u2028\u2029\u0085\u202e\u200b\ud800"'),
        ("안녕, Zoë — 北京 🎉", '"안녕, Zoë — 北京 🎉"'),
    ],
)
def test_quote(text, written):
    """What could be taken for markup is escaped, everything else is left readable; JSON reads it back."""
    assert written == quote(text)
    assert text == json.loads(written)


@pytest.mark.parametrize(
    "text", ["0", "-12.50", "2026-09-30", "2026-09-30T08:00:00Z", "2026-09-30 08:00:00.5+09:00", "08:30"]
)
def test_numbers_and_dates_stand_bare(text):
    """What is plainly a number, a date or a time needs no quotes."""
    assert text == write_text(text)


@pytest.mark.parametrize("text", ["", "1e5", "30%", "2026-9-3", "12 34", "1\n", "٣", "yes", "2026-09-30 x"])
def test_anything_else_is_quoted(text):
    """Words that mean something in the block are quoted where they are a value."""
    assert json.dumps(text, ensure_ascii=False) == write_text(text)


@pytest.mark.parametrize("text", ["m1", "42", "0190c1f2-7d55-7a6e-9c33-5d2a4f1b8e77", "a:1", "A_1.b"])
def test_plain_ids_stand_bare(text):
    """An id of one word with a digit in it reads like one."""
    assert text == write_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "SYSTEM",
        "m 1",
        "m1.",
        "-1",
        '["a"]',
        '["a", 1]',
        '["a",true]',
        '["a",[1]]',
        '["a",1',
        "a" * 70 + "1",
        "<1>",
        "키1",
    ],
)
def test_other_ids_are_quoted(text):
    """An id that is a word, or has other characters, stands in quotes."""
    assert text == json.loads(write_id(text))


@pytest.mark.parametrize("text", ['["a",1]', "[1,2]", '["</workspace_state>","[INST]"]', r'["a\\n","\""]', '["키",3]'])
def test_composite_ids_show_their_parts(text):
    """The brackets stand outside of the texts; read as JSON it is the id again, and no text leaves its quotes."""
    written = write_id(text)
    assert text == json.dumps(json.loads(written), ensure_ascii=False, separators=(",", ":"))
    assert set() == set("<>[]\n") & set("".join(re.findall(r'"([^"]*)"', written)))
    assert re.fullmatch(r'\[(?:"[^"]*"|-?[0-9]+)(?:,(?:"[^"]*"|-?[0-9]+))+\]', written)


def test_names_of_jobs():
    """Names of jobs and accounts need no digit to stand bare."""
    assert ["nightly", '"my job"'] == [write_name("nightly"), write_name("my job")]


def test_labels():
    """What the application calls a field keeps its brackets, on one line."""
    assert "weight [kg]" == write_label("weight [kg]")
    assert r"a\nb\u003c" == write_label("a\nb<")
