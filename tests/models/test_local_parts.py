"""The pieces of the embedded model that need no model: header, threads, requests, choices, kept states."""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path
from typing import Any

import pytest

from models.tiny_gguf import CONTEXT, write_tiny
from surefoot.errors import (
    EmptyReplyError,
    MisuseError,
    ModelFileError,
    OutputCutError,
    ProviderCapabilityError,
)
from surefoot.models._schema_rules import MAX_ITEMS, MAX_TEXT
from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.models.local import choices, prefixes, requests, threads
from surefoot.models.local.gguf import read_facts
from surefoot.models.local.prefixes import Prefix, PrefixStore, SlotNotes, identity
from surefoot.models.types import FinishReason, Message, Request, ToolChoice, ToolSpec

TOOL = ToolSpec("ping", "", {"type": "object"})
ASK = (Message("user", "go"),)


# --- the header ----------------------------------------------------------------------------------------------


def test_the_facts_of_a_model_file_are_read_without_loading_it(tmp_path: Path) -> None:
    """Architecture, name, template and trained context."""
    facts = read_facts(write_tiny(tmp_path / "t.gguf", name="Some Model", template="{{ x }}"))
    assert (facts.architecture, facts.name, facts.chat_template, facts.context_length) == (
        "qwen2",
        "Some Model",
        "{{ x }}",
        CONTEXT,
    )


def header(*parts: bytes, version: int = 3, keys: int = 1) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, keys) + b"".join(parts)


def key(name: bytes, kind: int) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"GGML" + bytes(40),
        header(version=1),
        header(keys=1 << 40),
        header(struct.pack("<Q", 1 << 50)),
        header(key(b"a", 99)),
        header(key(b"a", 9) + struct.pack("<IQ", 9, 1)),
        header(key(b"a", 9) + struct.pack("<IQ", 8, 1 << 50)),
        header(key(b"a", 9) + struct.pack("<IQQ", 8, 2, 1 << 40) + bytes(20)),
        header(key(b"\xff", 4) + bytes(4)),
        header(key(b"a", 4)),
    ],
)
def test_a_file_that_is_no_model_is_said_so(tmp_path: Path, content: bytes) -> None:
    """Empty, cut, another format, an old version, counts and lengths beyond the file, unknown types."""
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"bad\.gguf"):
        read_facts(path)


def test_scalars_and_lists_of_scalars_are_passed_over(tmp_path: Path) -> None:
    """Every kind of value that a header may hold."""
    scalars = b"".join(
        key(b"a", kind) + struct.pack(layout, 1) for kind, layout in ((0, "<B"), (7, "<?"), (12, "<d"))
    )
    lists = key(b"b", 9) + struct.pack("<IQ", 4, 3) + bytes(12)
    basename = key(b"general.basename", 8) + struct.pack("<Q", 3) + b"tst"
    path = tmp_path / "m.gguf"
    path.write_bytes(header(scalars, lists, basename, keys=5))
    assert read_facts(path).name == "tst"


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    """With its path."""
    with pytest.raises(ModelFileError, match="nowhere"):
        read_facts(tmp_path / "nowhere.gguf")


# --- threads -------------------------------------------------------------------------------------------------


@pytest.fixture
def _eight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cores", lambda: 8)


def never(_count: int) -> float:
    raise AssertionError("must not measure")


def test_the_setting_is_taken_as_it_is(tmp_path: Path) -> None:
    """Whatever the machine does."""
    assert threads.choose(3, tmp_path, never, idle=lambda: 0.0) == threads.Threads(3, 3)


@pytest.mark.usefixtures("_eight")
@pytest.mark.parametrize(("idle", "writing"), [(0.0, 1), (1.5, 1), (1.7, 2), (4.9, 5)])
def test_a_busy_machine_gets_no_more_writing_threads_than_idle_cores(
    tmp_path: Path, idle: float, writing: int
) -> None:
    """And is not measured; prompts are read with every core all the same."""
    if idle >= 8 * threads.IDLE_SHARE:
        threads.measure(tmp_path, float)
    assert threads.choose(0, tmp_path, never, idle=lambda: idle) == threads.Threads(8, writing)


@pytest.mark.usefixtures("_eight")
def test_an_idle_machine_is_measured_once(tmp_path: Path) -> None:
    """All cores, then half as many while that is faster; the result is kept."""
    rates = {8: 10.0, 4: 14.0, 2: 13.0}
    tried: list[int] = []
    chosen = threads.choose(0, tmp_path, lambda count: tried.append(count) or rates[count], idle=lambda: 8.0)
    assert (chosen, tried) == (threads.Threads(8, 4), [8, 4, 2])
    assert threads.choose(0, tmp_path, never, idle=lambda: 8.0) == threads.Threads(8, 4)
    assert threads.choose(0, tmp_path, never, idle=lambda: 2.0) == threads.Threads(8, 2)


@pytest.mark.usefixtures("_eight")
def test_one_thread_may_be_the_best(tmp_path: Path) -> None:
    """Down to the last."""
    assert threads.measure(tmp_path, lambda count: 1 / count) == 1


def test_a_result_for_other_cores_or_a_broken_file_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container that got more cores is measured again."""
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    threads.measure(tmp_path, float)
    assert threads.kept(tmp_path) == 4
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    assert threads.kept(tmp_path) == 0
    (tmp_path / "threads.json").write_text("[]")
    assert threads.kept(tmp_path) == 0


def test_idle_cores_are_counted_over_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Idle share of the ticks that passed, times the cores; all of them where the system does not say."""
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    monkeypatch.setattr(threads.time, "sleep", lambda _seconds: None)
    samples = iter([(100.0, 1000.0), (130.0, 1060.0)])
    assert threads.idle_cores(lambda: next(samples)) == 2.0
    assert threads.idle_cores(lambda: (5.0, 5.0)) == 4.0

    def unknown() -> tuple[float, float]:
        raise FileNotFoundError

    assert threads.idle_cores(unknown) == 4.0


def test_this_machine_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real counters and quotas give possible numbers."""
    assert 0 <= threads.idle_cores() <= threads.available_cores() + 0.01
    monkeypatch.setattr(threads.Path, "read_text", lambda *_args, **_more: "100000 100000")
    assert threads.available_cores() == 1
    monkeypatch.setattr(threads.Path, "read_text", lambda *_args, **_more: "max 100000")
    assert threads.available_cores() >= 1


# --- requests and answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("purpose", "slot"),
    [("plan", 0), ("resolve", 0), ("resolve.2", 0), ("check", 0), ("reply", 1), ("planet", 1), ("", 1)],
)
def test_the_purpose_picks_the_slot(purpose: str, slot: int) -> None:
    """The planner's calls share its prefix; everything else takes the other."""
    assert requests.slot_of(purpose) == slot


def test_at_most_one_thing_binds_an_answer() -> None:
    """Said before any call."""
    with pytest.raises(MisuseError, match="more than one"):
        requests.grammar_of(Request(ASK, tools=(TOOL,), grammar="root ::= x"), FAMILY)
    assert requests.grammar_of(Request(ASK, grammar="g"), None) == "g"
    assert requests.grammar_of(Request(ASK), None) == ""
    assert "root" in requests.grammar_of(Request(ASK, json_schema={"type": "integer"}), None)


def test_tools_without_a_known_form_are_refused() -> None:
    """Provider-strict: before any call."""
    with pytest.raises(ProviderCapabilityError, match="tool call"):
        requests.grammar_of(Request(ASK, tools=(TOOL,)), None)


def test_one_named_tool_is_called_once_unless_told_otherwise() -> None:
    """As hosted models do."""
    one = requests.grammar_of(Request(ASK, tools=(TOOL,), tool_choice=ToolChoice(name="ping")), FAMILY)
    several = requests.grammar_of(
        Request(ASK, tools=(TOOL,), tool_choice=ToolChoice(name="ping"), max_calls=3), FAMILY
    )
    assert "{0," not in one
    assert "{0,2}" in several


def done(text: str, request: Request, stop: str = "eos") -> Any:
    return requests.completion_of(request, text, {"stop_type": stop}, FAMILY, model="m", seconds=1.0)


CALL = '```json\n[{"name": "ping", "arguments": {}}]\n```'


def test_the_ending_of_an_answer() -> None:
    """Words, calls, or words that were cut."""
    tools = Request(ASK, tools=(TOOL,))
    assert done("Hi", Request(ASK)).finish_reason is FinishReason.STOP
    assert done("Hi", Request(ASK), "limit").finish_reason is FinishReason.LENGTH
    assert done(CALL, tools).finish_reason is FinishReason.TOOL_CALLS
    assert done(CALL, Request(ASK)).tool_calls == ()


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        (CALL[:30], Request(ASK, tools=(TOOL,))),
        (CALL, Request(ASK, tools=(TOOL,))),
        ('{"a": 1', Request(ASK, json_schema={"type": "object"})),
    ],
)
def test_cut_calls_and_cut_json_are_an_error_and_no_call(text: str, request_: Request) -> None:
    """With finish length none of the calls is given, not even whole ones."""
    with pytest.raises(OutputCutError):
        done(text, request_, "limit")


def test_nothing_at_all_is_an_error() -> None:
    """Never an empty text."""
    with pytest.raises(EmptyReplyError):
        done(" \n", Request(ASK))


@pytest.mark.parametrize("value", ["x" * MAX_TEXT, [1] * MAX_ITEMS, {"a": [{"b": "x" * MAX_TEXT}]}])
def test_a_value_that_filled_the_grammars_limit_counts_as_cut(value: Any) -> None:
    """Half a text is never used."""
    with pytest.raises(OutputCutError, match="limit"):
        done(
            f'```json\n[{{"name": "t", "arguments": {json.dumps({"v": value})}}}]\n```',
            Request(ASK, tools=(TOOL,)),
        )


def test_usage_counts_cached_tokens_as_part_of_the_prompt() -> None:
    """As the shared type says."""
    usage = requests.usage_of({"timings": {"cache_n": 90, "prompt_n": 10, "predicted_n": 5}}, 2.0)
    assert (usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, usage.seconds) == (100, 90, 5, 2.0)
    assert requests.usage_of({}, 0.0).prompt_tokens == 0


# --- choices -------------------------------------------------------------------------------------------------


class Speaker:
    """Gives these chances for what follows each text."""

    def __init__(self, table: dict[str, dict[str, float]]) -> None:
        self.table = table
        self.asked: list[str] = []

    async def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        written = body["prompt"].removeprefix("P:")
        self.asked.append(written)
        top = [
            {"bytes": list(token.encode("latin-1")), "prob": chance}
            for token, chance in self.table[written].items()
        ]
        return {"completion_probabilities": [{"top_probs": top}] if top else []}


async def chances(
    table: dict[str, dict[str, float]], *texts: str
) -> tuple[tuple[float, ...] | None, list[str]]:
    speaker = Speaker(table)
    return await choices.probabilities(speaker, {"prompt": "P:"}, texts), speaker.asked


async def test_choices_that_part_at_once_cost_one_token() -> None:
    """Tokens that fit no choice do not count; several tokens may begin one choice."""
    found, asked = await chances({"": {"yes": 0.5, "y": 0.1, "no": 0.2, "maybe": 0.2}}, "yes", "no")
    assert found == pytest.approx((0.75, 0.25))
    assert asked == [""]


async def test_choices_with_a_common_beginning_are_told_apart_further_on() -> None:
    """Ending there is a choice as well."""
    table = {"": {"yes": 0.8, "no": 0.2}, "yes": {"": 0.5, " please": 0.25, " indeed": 0.25}}
    found, asked = await chances(table, "yes", "no", "yes please", "yes indeed")
    assert found == pytest.approx((0.4, 0.2, 0.2, 0.2))
    assert asked == ["", "yes"]


async def test_a_hopeless_branch_is_not_followed() -> None:
    """Its share stays with the choices in it."""
    found, asked = await chances({"": {"a": 0.99999, "b": 0.00001}}, "a", "b1", "b2")
    assert found is not None
    assert found[1] == found[2] == pytest.approx(0.000005)
    assert asked == [""]


async def test_half_a_character_ends_the_walk() -> None:
    """What shares it cannot be told apart, and shares it evenly."""
    found, _ = await chances({"": {"\xc3": 1.0}}, "ä", "ö")
    assert found == (0.5, 0.5)


@pytest.mark.parametrize("table", [{"": {}}, {"": {"x": 1.0}}])
async def test_without_numbers_there_are_none(table: dict[str, dict[str, float]]) -> None:
    """Nothing said, or nothing that fits."""
    assert (await chances(table, "a", "b"))[0] is None


# --- states on disk ------------------------------------------------------------------------------------------


def save(store: PrefixStore, name: str, content: bytes = b"state") -> Prefix:
    prefix = Prefix(f"text {name}", identity(name))
    store.folder.mkdir(exist_ok=True)
    (store.folder / store.temporary(prefix)).write_bytes(content)
    store.accept(prefix)
    return prefix


def test_the_name_of_a_state_covers_all_it_depends_on() -> None:
    """Model, version, context, cache type, template, the caller's key, the text: each makes another name."""
    parts = ["model", "1.0", 8192, "f16", "template", "key", "text"]
    others = [[*parts[:at], "other", *parts[at + 1 :]] for at in range(len(parts))]
    assert len({identity(*one) for one in [parts, *others]}) == len(parts) + 1
    assert identity("a", "b") != identity("ab", "")


def test_a_whole_state_is_held(tmp_path: Path) -> None:
    """Another process sees it too."""
    prefix = save(PrefixStore(tmp_path), "a")
    assert PrefixStore(tmp_path).holds(prefix)
    assert not PrefixStore(tmp_path).holds(Prefix("text b", identity("b")))


@pytest.mark.parametrize("harm", ["flip", "cut", "gone", "note gone", "note broken", "note empty"])
def test_a_damaged_state_is_not_held(tmp_path: Path, harm: str) -> None:
    """A failed restore would empty the slot, so the file is looked at before."""
    prefix = save(PrefixStore(tmp_path), "a")
    state, note = tmp_path / prefix.filename, tmp_path / f"{prefix.identity}.json"
    {
        "flip": lambda: state.write_bytes(b"stale"),
        "cut": lambda: state.write_bytes(b"st"),
        "gone": state.unlink,
        "note gone": note.unlink,
        "note broken": lambda: note.write_text("{"),
        "note empty": lambda: note.write_text("{}"),
    }[harm]()
    assert not PrefixStore(tmp_path).holds(prefix)


def test_a_dropped_state_is_gone(tmp_path: Path) -> None:
    """File and note."""
    store = PrefixStore(tmp_path)
    prefix = save(store, "a")
    store.drop(prefix)
    assert not store.holds(prefix)
    assert list(tmp_path.iterdir()) == []
    store.used(prefix)


def test_old_states_are_pruned_and_leftovers_swept(tmp_path: Path) -> None:
    """The ones used last stay; what a killed process left goes after an hour."""
    store = PrefixStore(tmp_path)
    made = [save(store, str(number)) for number in range(prefixes.KEPT)]
    for age, prefix in enumerate(made):
        os.utime(tmp_path / f"{prefix.identity}.json", (1000 + age, 1000 + age))
    store.used(made[0])
    old, fresh = tmp_path / "x.1.tmp", tmp_path / "y.2.tmp"
    for path in (old, fresh):
        path.write_bytes(b"")
    os.utime(old, (time.time() - prefixes.STALE_SECONDS - 60,) * 2)
    newest = save(store, "newest")
    held = [prefix for prefix in [*made, newest] if store.holds(prefix)]
    assert held == [made[0], *made[2:], newest]
    assert not old.exists()
    assert fresh.exists()
    assert len(list(tmp_path.glob("*.state"))) == prefixes.KEPT
    assert prefixes._age(tmp_path / "gone") == 0.0


def test_slot_notes_belong_to_one_engine(tmp_path: Path) -> None:
    """Notes about an engine that is gone say nothing about the next."""
    notes = SlotNotes(tmp_path / "slots.json", "http://127.0.0.1:1")
    assert notes.read(0) == ""
    notes.write(0, "a")
    notes.write(1, "b")
    notes.write(1, "b")
    assert (notes.read(0), notes.read(1)) == ("a", "b")
    assert SlotNotes(tmp_path / "slots.json", "http://127.0.0.1:2").read(0) == ""
    (tmp_path / "slots.json").write_text("{")
    assert notes.read(0) == ""
