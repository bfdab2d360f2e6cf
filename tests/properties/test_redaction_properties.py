"""Whatever the secret and wherever it stands, it does not come through."""

from __future__ import annotations

import json
from urllib.parse import quote, quote_plus

from hypothesis import given
from hypothesis import strategies as st

from surefoot.redaction import MASK, MIN_LENGTH, redact, redact_json, secrets, unfinished

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
# Brackets are left out, and parts of the mask itself: a secret that reads "secret" cannot be told from the mask.
values = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="[]"), min_size=MIN_LENGTH, max_size=20
)
secret_values = values.filter(lambda value: len(value.strip()) >= MIN_LENGTH and value.strip() not in MASK)
ways = st.sampled_from(
    [lambda s: s, str.strip, quote_plus, quote, lambda s: quote(s, safe=""), lambda s: json.dumps(s)[1:-1]]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(st.sets(secret_values, min_size=1, max_size=3), texts, texts, ways, st.data())
def test_no_secret_comes_through(known, before, after, way, data):
    """None of the known values is left in the text, in whatever form it was written."""
    written = way(data.draw(st.sampled_from(sorted(known))))
    with secrets(*known):
        seen = redact(before + written + after)
    assert not any(value in seen.replace(MASK, "[]") for value in known)
    assert written not in seen.replace(MASK, "[]")


@given(st.sets(secret_values, min_size=1, max_size=2), texts)
def test_redacting_twice_is_redacting_once(known, text):
    """A masked text stays as it is at the next sink."""
    with secrets(*known):
        once = redact(text + min(known))
        assert redact(once) == once


@given(json_values)
def test_json_without_the_secret_is_unchanged(value):
    """Masking touches nothing but the secret."""
    with secrets("\ue000never drawn\ue000"):
        assert redact_json(value) == value


@given(json_values, secret_values)
def test_json_with_the_secret_stays_json_and_loses_it(value, secret):
    """Every text and every key is looked at, however deep."""
    with secrets(secret):
        seen = redact_json({"a": [value, {secret: f"x{secret}y"}]})
    json.dumps(seen)
    assert not any(secret in text.replace(MASK, "[]") for text in _texts(seen))


@given(st.sets(secret_values, min_size=1, max_size=3), texts, texts, ways, st.data())
def test_no_secret_comes_through_a_stream(known, before, after, way, data):
    """However a text is cut into pieces, what was shown of it in all holds no secret."""
    written = way(data.draw(st.sampled_from(sorted(known))))
    text = before + written + after
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    shown, held = "", ""
    with secrets(*known):
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            held += text[start:end]
            ready = unfinished(held)
            shown, held = shown + redact(held[:ready]), held[ready:]
        shown += redact(held)
        assert shown.replace(MASK, "[]").find(written) == -1
    assert not any(value in shown.replace(MASK, "[]") for value in known)


def _texts(value):
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *_texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else []
