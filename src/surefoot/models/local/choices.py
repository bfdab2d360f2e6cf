"""Exactly one of several texts, with how likely each was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from surefoot.models.grammar import choice_grammar

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a body and gives the last event."""

CANDIDATES = 200
"""Tokens whose probability is asked for. llama.cpp gives them before the grammar when the model's first pick already
fits, so that the choices stand among all the others."""
NEGLIGIBLE = 1e-4
"""A branch less likely than this is not followed any further; its share stays with its first choice."""


async def probabilities(ask: Ask, body: dict[str, Any], choices: Sequence[str]) -> tuple[float, ...] | None:
    """One probability for each choice, together 1, under the rule that the answer is one of them.

    The tree of choices is walked from its root: each node costs one token, and choices that part at their first token
    cost one node in all. None where they cannot be had: llama.cpp keeps quiet about a token that is half a character,
    and a choice outside the likeliest `CANDIDATES` has no number.
    """
    shares = dict.fromkeys(choices, 0.0)
    nodes = [(b"", 1.0, list(shares))]
    while nodes:
        written, share, among = nodes.pop()
        branches = await _branches(ask, body, written.decode(), among)
        if not branches:
            return None
        for ending, chance in branches.items():
            left = _left(among, written, ending)
            if len(left) == 1 or chance * share < NEGLIGIBLE or not _whole(written + ending):
                for one in left:
                    shares[one] += chance * share / len(left)
            else:
                nodes.append((written + ending, chance * share, left))
    total = sum(shares.values())
    return tuple(shares[one] / total for one in choices)


def bound_to(choices: Sequence[str]) -> dict[str, Any]:
    """Settings under which the answer is the likeliest of these texts, without numbers."""
    longest = max(len(one.encode()) for one in choices)
    settings = {"n_predict": longest + 1, "temperature": 0.0, "stop": [], "stream": False}
    return {**settings, "grammar": choice_grammar(choices)}


def _left(among: list[str], written: bytes, ending: bytes) -> list[str]:
    """The choices that go on this way; ending with nothing is the choice that is complete."""
    if not ending:
        return [written.decode()]
    return [one for one in among if one.encode().startswith(written + ending)]


def _whole(text: bytes) -> bool:
    """No character is cut in two: some tokens are half of one."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


async def _branches(ask: Ask, body: dict[str, Any], written: str, among: list[str]) -> dict[bytes, float]:
    """What may follow `written`, token by token, with its share; the empty token ends the answer there."""
    rests = [one[len(written) :].encode() for one in among]
    last = await ask({**body, **_sampling(among, written), "prompt": body["prompt"] + written})
    found: dict[bytes, float] = {}
    for candidate in _candidates(last):
        token = bytes(candidate["bytes"])
        if token in rests if not token else any(rest.startswith(token) for rest in rests):
            found[token] = found.get(token, 0.0) + float(candidate["prob"])
    total = sum(found.values())
    return {token: chance / total for token, chance in found.items()} if total > 0 else {}


def _candidates(last: dict[str, Any]) -> list[dict[str, Any]]:
    tokens = last.get("completion_probabilities") or []
    return list(tokens[0].get("top_probs") or []) if tokens else []


def _sampling(among: list[str], written: str) -> dict[str, Any]:
    """Settings under which `top_probs` are the model's own chances among the allowed tokens."""
    rests = [one[len(written) :] for one in among]
    grammar = choice_grammar([rest for rest in rests if rest])
    if "" in rests:
        grammar = grammar.rstrip() + ' | ""\n'
    return {
        "grammar": grammar,
        "n_predict": 1,
        "n_probs": CANDIDATES,
        "post_sampling_probs": True,
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "seed": 0,
        "stop": [],
        "stream": False,
    }
