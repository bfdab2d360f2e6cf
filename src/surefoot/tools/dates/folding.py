"""What does not matter in a written date: case, accents, marks; and numbers in Han signs."""

from __future__ import annotations

import re
import unicodedata

HAN = "〇零一二三四五六七八九十廿百"
_HAN_DIGITS = {**{sign: value for value, sign in enumerate("〇一二三四五六七八九")}, "零": 0}
_POINTS = re.compile("[\u0300-\u036f]")
_DASHES = re.compile("[–—−‐‑]")
_MARKS = re.compile(r"['’‘´`\"“”„«»,，、;!?？！。¡¿]|\.(?=\s*$)(?<!\d\.)|…|\.{2,}")


def fold(text: str) -> str:
    """Case, width, accents, figures of other scripts and typographic marks do not matter to a date."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFC", _POINTS.sub("", unicodedata.normalize("NFD", text)))
    text = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
    return " ".join(_MARKS.sub(" ", _DASHES.sub("-", text)).split())


def han(text: str) -> int | None:
    """The number written in Han numerals, up to 999."""
    if not text or any(sign not in HAN for sign in text):
        return None
    if len(text) > 1 and all(sign in _HAN_DIGITS for sign in text):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in text))
    total = digit = 0
    for sign in text:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif sign == "廿":
            total, digit = total + 20, 0
        else:
            total, digit = total + (digit or 1) * (100 if sign == "百" else 10), 0
    return total + digit
