"""Facts: what a person lets a flow use (`email`, `card number`), and which of them are secret.

A fact is secret when its name says so, when its value looks it, or when the caller names it so; nobody can make one of
the first two shared. What plans and checks gets `FactNames`, which hold no value. `Facts` gives a value at the moment
it is typed and never shows one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from surefoot import redaction
from surefoot.errors import FactError, MisuseError
from surefoot.flows.detection import is_secret_name, is_secret_value

MAX_NAME = 64
"""Characters of a name: a label, not a sentence."""
_SIGNS = " _-'."
"""What a name may hold beside letters, their marks and digits: nothing that `${name}` or a shell reads as something."""


@dataclass(frozen=True, slots=True)
class FactNames:
    """Names of facts, without a value: all that planning and checking get to know.

    Given names are kept in their order, each once; a shared one that labels a secret is moved to `secret` here, so
    that none can be made shared.

    Args:
        shared: names whose values a model may read.
        secret: names whose values are only ever typed.

    Raises:
        FactError: a name cannot be one.
    """

    shared: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shared = [checked_name(name) for name in _names(self.shared)]
        secret = [checked_name(name) for name in _names(self.secret)]
        hidden = dict.fromkeys([*secret, *(name for name in shared if is_secret_name(name))])
        object.__setattr__(self, "secret", tuple(hidden))
        object.__setattr__(
            self, "shared", tuple(name for name in dict.fromkeys(shared) if name not in hidden)
        )

    @property
    def all(self) -> tuple[str, ...]:
        """The shared ones, then the secret ones."""
        return (*self.shared, *self.secret)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _composed(name) in self.all

    def __iter__(self) -> Iterator[str]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.shared) + len(self.secret)

    def is_secret(self, name: str) -> bool:
        """It is one of the secret ones."""
        return _composed(name) in self.secret

    def plus(self, shared: Iterable[str] = (), secret: Iterable[str] = ()) -> FactNames:
        """These names and more."""
        return FactNames((*self.shared, *_names(shared)), (*self.secret, *_names(secret)))


class Facts:
    """Facts with their values. No way of showing one shows a value; secret values are masked from here on.

    Args:
        values: value by name. A value is any text that is not empty.
        secret: names that are secret whatever they are called.

    Raises:
        FactError: a name or a value cannot be used, or `secret` names no fact.
    """

    __slots__ = ("_names", "_values")

    def __init__(self, values: Mapping[str, str], secret: Iterable[str] = ()) -> None:
        self._values = {checked_name(name): _checked_value(name, value) for name, value in values.items()}
        named = [checked_name(name) for name in _names(secret)]
        for name in named:
            if name not in self._values:
                raise FactError(
                    f"{name!r} is named as a secret, and there is no fact of that name.",
                    f"The facts are: {', '.join(self._values) or 'none'}.",
                    reason="unknown",
                    name=name,
                )
        hidden = [name for name, value in self._values.items() if name in named or _is_secret(name, value)]
        self._names = FactNames(tuple(name for name in self._values if name not in hidden), tuple(hidden))
        self.mask()

    @property
    def names(self) -> FactNames:
        """Their names, without a value."""
        return self._names

    def value(self, name: str) -> str:
        """The value, for the moment it is typed; a secret one is masked from then on in this context, too.

        Raises:
            FactError: there is no such fact.
        """
        known = _composed(name)
        if known not in self._values:
            raise FactError(
                f"There is no fact {name!r}.",
                f"The facts are: {', '.join(self._values) or 'none'}.",
                reason="unknown",
                name=name,
            )
        value = self._values[known]
        if self._names.is_secret(known):
            redaction.register(value)
        return value

    def mask(self) -> None:
        """Mask every secret value in the context that calls and those it starts.

        Needed where the facts were made in another one: secrets are known context by context.
        """
        redaction.register(*(self._values[name] for name in self._names.secret))

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Facts(shared={list(self._names.shared)!r}, secret={list(self._names.secret)!r})"

    def __getstate__(self) -> NoReturn:  # object's own gives the slots away
        self.__reduce__()

    def __reduce__(self) -> NoReturn:
        raise MisuseError(
            "Facts are not written anywhere.", "Pass their names, and load the values where they are used."
        )

    def __copy__(self) -> Facts:
        return self

    def __deepcopy__(self, memo: object) -> Facts:
        return self


def _is_secret(name: str, value: str) -> bool:
    return is_secret_name(name) or is_secret_value(value)


def checked_name(name: Any) -> str:
    """The name, composed as Unicode has it, when it can be one.

    Raises:
        FactError: it cannot; the message does not repeat it, for a person may have written the value in its place.
    """
    if not isinstance(name, str):
        raise FactError(f"A fact's name is a text, not {type(name).__name__}.", reason="name")
    text = _composed(name)
    wrong = next((place for place, char in enumerate(text) if not _may_stand(char)), None)
    if wrong is not None:
        raise FactError(
            f"A fact's name cannot hold {text[wrong]!r} (character {wrong + 1}).",
            "Use letters, digits, spaces and any of _ - ' . as in: card number",
            reason="name",
        )
    if not text.strip() or text != text.strip():
        what = "is empty" if not text.strip() else "begins or ends with a space"
        raise FactError(f"The name of a fact {what}.", "Give it a name, as in: card number", reason="name")
    if len(text) > MAX_NAME:
        raise FactError(
            f"The name of a fact has {len(text)} characters; {MAX_NAME} are allowed.",
            "Name what it is, as in: card number",
            reason="name",
        )
    if is_secret_value(text):
        raise FactError(
            "The name of a fact looks like a secret itself.",
            "Name what it is, as in: card number; the value is asked for.",
            reason="name",
        )
    return text


def _checked_value(name: str, value: Any) -> str:
    """What a field can hold. The message never has the value in it."""
    wrong = ""
    if not isinstance(value, str):
        wrong = f"is no text but {type(value).__name__}"
    elif not value.strip():
        wrong = "is empty"
    elif any(unicodedata.category(char) == "Cs" or char == "\x00" for char in value):
        wrong = "holds a character that is none"
    if wrong:
        raise FactError(f"The value of {name!r} {wrong}.", "Give plain text.", reason="value", name=name)
    return str(value)


def _names(names: Iterable[str] | str) -> tuple[str, ...]:
    """A text alone is a slip: its letters would be taken for names."""
    return (names,) if isinstance(names, str) else tuple(names)


def _composed(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _may_stand(char: str) -> bool:
    return char in _SIGNS or unicodedata.category(char)[0] in "LM" or char.isdecimal()
