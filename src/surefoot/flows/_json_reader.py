"""JSON with the line of every value. Stricter than the standard's: no doubled keys, no NaN, no halves of characters.

The standard library's decoder tells no positions; libraries that do keep the last of two equal keys, and read numbers
and texts by themselves. Texts are read here by the standard library's own decoder.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from surefoot.errors import UnreadableInputError
from surefoot.flows._shown import shown
from surefoot.flows._tree import Places, Tree

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(r"\w+")
_HALF: Final = re.compile("[\ud800-\udfff]")
_TEXTS: Final = JSONDecoder()
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_LIKE_JSON: Final = {"None": "null", "True": "true", "False": "false", "undefined": "null"}

MOST_DIGITS: Final = 30
"""Of a number: far beyond any number of a flow, and far below what Python refuses to read."""

MOVE: Final = "Correct it there. What begins with { or [ is read as JSON."


def read_json(text: str, places: Places) -> Tree:
    """The value of a JSON text; UnreadableInputError names line and column."""
    return _Reader(text, places).read()


class _Reader:
    def __init__(self, text: str, places: Places) -> None:
        self._text = text
        self._places = places
        self._at = 0
        self._tree = Tree(places)

    def read(self) -> Tree:
        self._value()
        while (inside := self._tree.inside) is not None:
            self._next_in(inside)
        if self._peek():
            raise self._error(f"the JSON has ended, but {self._found()} follows")
        return self._tree

    def _next_in(self, inside: list[Any] | dict[str, Any]) -> None:
        """The end of the list or object, or one more value in it."""
        end, what = ("}", "object") if isinstance(inside, dict) else ("]", "list")
        char = self._peek()
        if char == end:
            self._at += 1
            self._tree.close()
            return
        if inside:
            if char != ",":
                raise self._error(f"',' or {end!r} is missing in this {what} before {self._found()}")
            self._at += 1
            if self._peek() == end:
                raise self._error(f"after a ',' one more value must come, and the {what} ends")
        if end == "}":
            self._key()
        self._value()

    def _key(self) -> None:
        if self._peek() != '"':
            raise self._error(f"a key in double quotation marks must stand here, not {self._found()}")
        start = self._at
        self._tree.key(self._string(), start)
        if self._peek() != ":":
            raise self._error(f"':' is missing after the key, before {self._found()}")
        self._at += 1

    def _value(self) -> None:
        char, start = self._peek(), self._at
        if char in ("{", "["):
            self._at += 1
            self._tree.open({} if char == "{" else [], start)
        elif char == '"':
            self._tree.put(self._string(), start)
        elif char and char in "-0123456789":
            self._tree.put(self._number(), start)
        else:
            self._tree.put(self._constant(), start)

    def _string(self) -> str:
        start = self._at
        try:
            read: tuple[str, int] = _TEXTS.raw_decode(self._text, start)
        except JSONDecodeError as error:
            raise self._in_string(error, start) from None
        value, end = read
        if not value.isascii() and _HALF.search(value):
            raise self._error("the text holds half of a character (a lone surrogate)")
        self._at = end
        return value

    def _in_string(self, error: JSONDecodeError, start: int) -> UnreadableInputError:
        """What the standard library found in a text, with our own words."""
        if error.msg.startswith("Unterminated"):
            self._at = start
            return self._error("the text that begins here has no closing quotation mark")
        self._at = min(error.pos, len(self._text))
        if error.msg.startswith("Invalid control character"):
            char = self._text[self._at]
            what = (
                "a line ends inside a text"
                if char == "\n"
                else f"the character {char!r} stands bare in a text"
            )
            return self._error(f"{what}; JSON wants it written as {json_escape(char)}")
        return self._error("the backslash is followed by something JSON does not know")

    def _number(self) -> int | float:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            raise self._error("a '-' must be followed by a number")
        if len(found.group()) > MOST_DIGITS:
            raise self._error(f"the number has more than {MOST_DIGITS} digits")
        broken = found.group(1) or found.group(2)
        value = float(found.group()) if broken else int(found.group())
        if value in (float("inf"), float("-inf")):
            raise self._error("the number is too large")
        self._at = found.end()
        return value

    def _constant(self) -> Any:
        word = self._word()
        if word in _CONSTANTS:
            self._at += len(word)
            return _CONSTANTS[word]
        meant = f"; JSON writes {_LIKE_JSON[word]}" if word in _LIKE_JSON else ""
        raise self._error(f"a value must stand here, not {self._found()}{meant}")

    # --- looking ----------------------------------------------------------------------------------------------

    def _peek(self) -> str:
        """The next character that is no space; empty at the end."""
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def _word(self) -> str:
        found = _WORD.match(self._text, self._at)
        return found.group() if found else ""

    def _found(self) -> str:
        """What stands here, for an error."""
        if self._at >= len(self._text):
            return "the end"
        if self._text.startswith(("//", "/*", "#"), self._at):
            return "a comment, which JSON has not (YAML has)"
        word = self._word()
        return shown(word) if word else repr(self._text[self._at])

    def _error(self, what: str) -> UnreadableInputError:
        return self._places.error(self._at, what, MOVE)


def json_escape(char: str) -> str:
    """How JSON writes this character inside a text."""
    from json import dumps

    return dumps(char)[1:-1]
