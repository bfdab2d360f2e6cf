"""What binds a model that writes a flow: a grammar (GBNF) for the embedded one, a schema without recursion for others.

Both come from the definition of the steps and are narrower than the language: no steps but those of the surfaces there
are, one level of branches and loops, short texts, and `${...}` only with names that are given, stored or plainly
invented; a secret's name only in the value of an `enter`. What a grammar cannot say is left to `check_flow`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from surefoot.flows.detection import is_payment
from surefoot.flows.facts import FactNames
from surefoot.flows.steps import BROWSER, KINDS, Kind, Part, PartType
from surefoot.models.grammar import RuleBook, json_literal, literal, spans_rule
from surefoot.planning.flow_hints import PAYING, Hints, form_facts

MAX_STEPS: Final = 20
"""Steps of a plan; a task for a person's evening has 6 on average and 12 at most."""
MAX_SECRETS: Final = 3
"""Secrets of one kind that are all meant when they are given; of more, the flow picks."""
MAX_FREE: Final = 9
"""Steps of a small model's plan beside those that the task asks for: with more room it wanders."""
MAX_BEFORE: Final = 3
"""Of them, in front of a step that must come."""
MAX_INNER: Final = 6
"""Steps of a branch or of a loop's body."""
MAX_SLOTS: Final = 12
"""Fields that one `enter` fills: more are a form of several pages."""
MAX_SENTENCE: Final = 160
"""Characters of a step's text; a longer one is a paragraph, and no step."""
MAX_VALUE: Final = 600
"""Characters that are typed into a field: a short letter."""
MAX_LABEL: Final = 60
"""Characters of a label, of an application's name, of a field's description."""
MAX_NAME: Final = 25
"""Letters of an invented name, behind those that it shares with a secret's name."""
MAX_ROUNDS: Final = 99

_BLANK: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
"""Characters that nobody sees: a text that begins with none of them is not blank."""
_UNSAID: Final = r'"\\$<>{}'
"""What JSON escapes, and what belongs to names: other ways to write them would be words and nothing else."""
_FIRST: Final = rf"[^{_UNSAID}\x00-\x20\x7F-\xA0{_BLANK}]"
_NEXT: Final = rf'[^{_UNSAID}\x00-\x1F\x7F] | "\\\"" | "$" [0-9 ]'
_LINES: Final = rf'{_NEXT} | "\\n"'
_PATH: Final = '([/?] [a-zA-Z0-9/?&=%+._~#:@,-]{0,120})? "\\""'
_ADDRESS: Final = (
    r'"\"" "https://"? [a-z0-9À-ɏ] [a-z0-9À-ɏ-]{0,40} ("." [a-z0-9À-ɏ] [a-z0-9À-ɏ-]{0,40}){0,3} "." [a-z] [a-z]{1,11} '
    + _PATH
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_INVENTED: Final = " " + _LETTERS
_STORED: Final = "_" + _LETTERS


@dataclass(frozen=True, slots=True)
class _Texts:
    """How the parts of steps are written, by type; the names of rules."""

    rules: dict[PartType, str]
    slot: str
    value: str
    criterion: str = ""


def flow_grammar(facts: FactNames, surfaces: frozenset[str], hints: Hints = Hints()) -> str:
    """The grammar of a whole flow: `{"app": "browser", "steps": [...]}`, as JSON with one fixed spacing.

    A flow in the browser begins with a `browse`, one in an application with an `open`.

    Args:
        facts: the names that `${...}` may hold, beside what a step stores and what is invented.
        surfaces: `browser`, `desktop` or both.
        hints: where the task says to go, that it ranks, what it stops before: the flow begins, holds and ends so.
    """
    book, placed = RuleBook(), _placed(facts, surfaces, hints)
    texts = _texts(book, facts, [*placed.login, *placed.form, *placed.paid])
    kinds = [kind for kind in KINDS.values() if not kind.surface or kind.surface in surfaces]
    inner = book.add("inner", " | ".join(_step(kind, texts, "") for kind in kinds if not _nests(kind)))
    body = f'"[" {inner} (", " {inner}){{0,{MAX_INNER - 1}}} "]"'
    ways = [_step(kind, texts, book.add("steps", body)) for kind in kinds if not _is_placed(kind, hints)]
    step = book.add("step", " | ".join(ways))
    sentence = f'", " {texts.rules[PartType.TEXT]}'
    parts = [
        *([sentence, *_entering(_places(placed.login), texts.slot)] if placed.login else []),
        *_entering(placed.asked, _field(book, texts, facts) if placed.asked else ""),
        _free(book, texts, step, hints),
        *_entering(_places(placed.form), texts.slot),
    ]
    if hints.saved and surfaces - {BROWSER}:
        parts += [*_entering([hints.saved], texts.slot), sentence]
    if hints.stop:
        parts += [
            *_entering(_places(placed.paid), texts.slot),
            f'", " {_step(KINDS["stop_before"], texts, "")}',
        ]
    heads = " | ".join(_heads(kinds, texts, surfaces, hints))
    return book.text(f'({heads}) {" ".join(parts)} "]}}"')


@dataclass(frozen=True, slots=True)
class _Placed:
    """Names and values that stand where the task wants them, each group in an `enter` of its own."""

    login: Sequence[str] = ()
    asked: Sequence[str] = ()
    form: Sequence[str] = ()
    paid: Sequence[str] = ()


def _placed(facts: FactNames, surfaces: frozenset[str], hints: Hints) -> _Placed:
    """What a small model would lose on a page: the values are written for it, the names of fields are its own."""
    if not hints.read or hints.app or BROWSER not in surfaces:
        return _Placed()
    paid = _secrets(facts, payment=True) if hints.stop == PAYING else []
    return _Placed(_secrets(facts, payment=False), hints.asked, form_facts(facts, hints), paid)


def _heads(kinds: Sequence[Kind], texts: _Texts, surfaces: frozenset[str], hints: Hints) -> list[str]:
    """The ways a flow may begin: where the task says, else on any surface there is."""
    if hints.hosts and BROWSER in surfaces:
        begun = replace(texts, rules={**texts.rules, PartType.ADDRESS: _hosts(hints)})
        return [_head(kind, begun) for kind in kinds if kind.surface == BROWSER]
    if hints.app and surfaces - {BROWSER}:
        begun = replace(texts, rules={**texts.rules, PartType.APP: json_literal(hints.app)})
        return [_head(kind, begun) for kind in kinds if kind.surface not in ("", BROWSER)]
    return [_head(kind, texts) for kind in kinds if kind.surface]


def _free(book: RuleBook, texts: _Texts, step: str, hints: Hints) -> str:
    """The steps between: any, and one `pick` among them where the task ranks."""
    room = MAX_FREE if hints.read else MAX_STEPS - 1 - hints.ranked - bool(hints.stop)
    if not hints.ranked:
        return f'(", " {step}){{0,{room}}}'
    before = MAX_BEFORE if hints.read else room // 2
    pick = _step(KINDS["pick"], _picking(book, texts, hints), "")
    return f'(", " {step}){{0,{before}}} ", " {pick} (", " {step}){{0,{room - before}}}'


def _is_placed(kind: Kind, hints: Hints) -> bool:
    """Steps of this kind stand where the task wants them, and nowhere else: a small model would write them again."""
    return hints.read and (
        (kind.name == "stop_before" and bool(hints.stop)) or (kind.name == "pick" and hints.ranked)
    )


def _picking(book: RuleBook, texts: _Texts, hints: Hints) -> _Texts:
    """A criterion in the words of the task, where there is one."""
    span = spans_rule(book, [hints.goal]) if hints.read else ""
    if not span:
        return texts
    return replace(texts, criterion=book.add("criterion", rf'"\"" {span} "\""'))


def _entering(values: Sequence[str], slot: str) -> Iterable[str]:
    """One `enter` with exactly these values; none where there are none."""
    if values:
        pairs = ' ", " '.join(f'{slot} ": " {json_literal(value)}' for value in values)
        yield rf'", {{\"enter\": {{" {pairs} "}}}}"'


def _field(book: RuleBook, texts: _Texts, facts: FactNames) -> str:
    """How a field is called that is no fact's: a small model would fill the person's name with a day."""
    return book.add("field", _not_beginning(facts.all)) if facts else texts.slot


def _not_beginning(names: Iterable[str]) -> str:
    """A rule for a label that begins with other two letters than all of these names."""
    seconds: dict[str, str] = {}
    for name in names:
        if name[:1].isalpha() and name[1:2].isalpha():
            seconds[name[0].lower()] = seconds.get(name[0].lower(), "") + name[1].lower()
    firsts = "".join(seconds)
    ways = [f"[^{_UNSAID}\\x00-\\x40{firsts}{firsts.upper()}] char{{0,{MAX_LABEL - 2}}}"]
    for first, barred in seconds.items():
        both = "".join(dict.fromkeys((first, first.upper())))
        ways.append(f"[{both}] [^{_UNSAID}\\x00-\\x1F{barred}{barred.upper()}] char{{0,{MAX_LABEL - 2}}}")
    return rf'"\"" ({" | ".join(ways)}) "\""'


def _places(names: Iterable[str]) -> list[str]:
    return [f"${{{name}}}" for name in names]


def _secrets(facts: FactNames, *, payment: bool) -> list[str]:
    """Secrets that were given for this task, as far as they are so few that all of them must be meant."""
    found = [name for name in facts.secret if is_payment(name) is payment]
    return found if len(found) <= MAX_SECRETS else []


def _hosts(hints: Hints) -> str:
    """An address at one of the hosts that the task names."""
    hosts = " | ".join(literal(f"https://{host}") for host in hints.hosts)
    return rf'"\"" ({hosts}) {_PATH}'


def _head(kind: Kind, texts: _Texts) -> str:
    """How a flow on this kind's surface begins: the application, and the step that gets there."""
    app = json_literal(BROWSER) if kind.surface == BROWSER else texts.rules[PartType.APP]
    opening, steps = literal("{" + _key("app")), literal(", " + _key("steps") + "[")
    return f"{opening} {app} {steps} {_step(kind, texts, '')}"


def _nests(kind: Kind) -> bool:
    return any(part.type is PartType.STEPS for part in kind.parts)


def _step(kind: Kind, texts: _Texts, steps: str) -> str:
    """One step of this kind; a `do` is written as its text alone."""
    if kind.name == "do":
        return texts.rules[PartType.TEXT]
    if kind.plain:
        inner = _part(kind.parts[0], texts, steps)
    else:
        required = [part for part in kind.parts if part.required]
        optional = [part for part in kind.parts if not part.required]
        members = ' ", " '.join(_member(part, texts, steps) for part in required)
        members += "".join(f' (", " {_member(part, texts, steps)})?' for part in optional)
        inner = f'"{{" {members} "}}"'
    return f'{literal("{" + _key(kind.name))} {inner} "}}"'


def _member(part: Part, texts: _Texts, steps: str) -> str:
    return f"{literal(_key(part.key))} {_part(part, texts, steps)}"


def _key(name: str) -> str:
    return f'"{name}": '


def _part(part: Part, texts: _Texts, steps: str) -> str:
    if part.type is PartType.STEPS:
        return steps
    if part.type is PartType.SLOTS:
        pair = f'{texts.slot} ": " {texts.value}'
        return f'"{{" {pair} (", " {pair}){{0,{MAX_SLOTS - 1}}} "}}"'
    return texts.criterion if part.key == "by" and texts.criterion else texts.rules[part.type]


# --- texts and the names in them -----------------------------------------------------------------------------


def _texts(book: RuleBook, facts: FactNames, placed: Sequence[str] = ()) -> _Texts:
    """The texts of free steps: with any name but those `placed`, which stand where the task wants them."""
    first, char, line = book.add("first", _FIRST), book.add("char", _NEXT), book.add("line", _LINES)
    barred = (*facts.secret, *placed)
    free = _other(book, _INVENTED, barred), _other(book, _STORED, barred)
    shared = book.add("name", _place([one for one in facts.shared if one not in placed], free))
    anything = book.add("value-name", _place([one for one in facts.all if one not in placed], free))

    def text(hint: str, most: int, *names: str, chars: str = char) -> str:
        begin, more = " | ".join((first, *names)), " | ".join((chars, *names))
        return book.add(hint, rf'"\"" ({begin}) ({more}){{0,{most - 1}}} "\""')

    sentence, label = text("text", MAX_SENTENCE, shared), text("label", MAX_LABEL, shared)
    plain = text("plain", MAX_LABEL)
    stored = book.add("into", rf'"\"" {_other(book, _STORED, facts.all)} "\""')
    rules = {
        PartType.TEXT: sentence,
        PartType.CONDITION: sentence,
        PartType.LABEL: label,
        PartType.APP: plain,
        PartType.ADDRESS: book.add("address", _ADDRESS),
        PartType.VARIABLE: stored,
        PartType.ROUNDS: book.add("rounds", "[1-9] [0-9]?"),
    }
    return _Texts(rules, plain, text("value", MAX_VALUE, anything, chars=line))


def _place(names: Sequence[str], free: tuple[str, str]) -> str:
    """`${name}` with a given name, or another. What a name may hold needs no escape."""
    given = [literal(f"${{{name}}}") for name in names]
    return " | ".join([*given, f'"${{" ({" | ".join(free)}) "}}"'])


def _other(book: RuleBook, alphabet: str, names: Iterable[str]) -> str:
    """A rule for words that are none of these names: letters, with the first of the alphabet between them.

    It follows the names letter by letter (a trie): what leaves them is free, what ends as one of them is not written.
    """
    joint = alphabet[0]
    letters = book.add("letters", f'[a-z] | "{joint}" [a-z]')
    rest = book.add("rest", f"{letters}{{0,{MAX_NAME - 1}}}")
    barred = frozenset(name for name in names if set(name) <= set(alphabet))
    return _branch(book, (joint, rest), "", barred)


def _branch(book: RuleBook, free: tuple[str, str], said: str, barred: frozenset[str]) -> str:
    """The name of the rule for what may follow `said`, which is empty or the beginning of a barred name."""
    joint, rest = free
    following = sorted({name[len(said)] for name in barred if name.startswith(said) and name != said})
    ways = [f'"{one}" {_branch(book, free, said + one, barred)}' for one in following]
    letters = "".join(one for one in _LETTERS if one not in following)
    if letters:
        ways.append(f"[{letters}] {rest}")
    parted = not said or said.endswith(joint)
    if joint not in following and not parted:
        ways.append(f'"{joint}" [a-z] {rest}')
    body = " | ".join(ways)
    return book.add("other", body if parted or said in barred else f"({body})?")


# --- as a schema ---------------------------------------------------------------------------------------------


def bound_schema(surfaces: frozenset[str]) -> dict[str, Any]:
    """The same limits as a JSON Schema, for a server that binds by one. Names in `${...}` are left to the check."""
    kinds = [kind for kind in KINDS.values() if not kind.surface or kind.surface in surfaces]
    inner = [_kind_schema(kind, {}) for kind in kinds if not _nests(kind)]
    body = _list_of(inner, MAX_INNER)
    steps = _list_of([_kind_schema(kind, body) for kind in kinds], MAX_STEPS)
    only_pages = surfaces == frozenset({BROWSER})
    app: dict[str, Any] = {"type": "string", "enum": [BROWSER]} if only_pages else _string(MAX_LABEL)
    return _object({"app": app, "steps": steps}, ("app", "steps"))


def _kind_schema(kind: Kind, steps: dict[str, Any]) -> dict[str, Any]:
    if kind.name == "do":
        return _string(MAX_SENTENCE)
    if kind.plain:
        return _object({kind.name: _part_schema(kind.parts[0], steps)}, (kind.name,))
    parts = {part.key: _part_schema(part, steps) for part in kind.parts}
    required = [part.key for part in kind.parts if part.required]
    return _object({kind.name: _object(parts, required)}, (kind.name,))


def _part_schema(part: Part, steps: dict[str, Any]) -> dict[str, Any]:
    if part.type is PartType.STEPS:
        return steps
    if part.type is PartType.SLOTS:
        return {"type": "object", "additionalProperties": _string(MAX_VALUE), "minProperties": 1}
    if part.type is PartType.ROUNDS:
        return {"type": "integer", "minimum": 1, "maximum": MAX_ROUNDS}
    short = part.type in (PartType.LABEL, PartType.APP, PartType.VARIABLE)
    return _string(MAX_LABEL if short else MAX_SENTENCE)


def _list_of(items: list[dict[str, Any]], most: int) -> dict[str, Any]:
    return {"type": "array", "items": {"anyOf": items}, "minItems": 1, "maxItems": most}


def _string(most: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most}


def _object(properties: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
