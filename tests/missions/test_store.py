"""Missions and agents in the database: versions, actors, tombstones, one runner, an agent's day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from surefoot.errors import AmbiguousError, BudgetExceededError, InputError, NotFoundError, StateError
from surefoot.missions import executions, store
from surefoot.missions.rows import new_id
from surefoot.missions.tables import agents, missions
from surefoot.missions.types import Agent, Mission
from surefoot.storage import Database
from surefoot.tools.types import Actor

NOW = datetime(2026, 4, 27, 7, 0, tzinfo=UTC)
ME, ADA = Actor("person", "me"), Actor("agent", "ada")
WHO = {"actor": ME, "now": NOW}


@pytest.fixture
def database(place):
    with Database(place) as opened:
        yield opened


@pytest.fixture
def do(database):
    """Runs a function of the store in a transaction of its own."""
    return lambda fn, *args, **more: database.write_sync(lambda tx: fn(tx, *args, **more))


def news(do, **fields):
    made = Mission(new_id(), **{"title": "Morning news", "goal": "Save three articles", **fields})
    return do(store.create, made, **WHO)


def ada(do, **fields):
    return do(store.create_agent, Agent(new_id(), **{"name": "Ada", **fields}), **WHO)


def begin(do, mission, occurrence="2026-04-27", run="", now=NOW, **more):
    asked = {"occurrence": occurrence, "run": run or new_id(), "actor": ME, "owner": "", "now": now}
    return do(executions.begin_execution, mission.id, **{**asked, "zone": "Europe/Berlin", **more})


def end(do, begun, status="done", **changes):
    changes = {"ended_at": NOW, "phase": "done", **changes}
    return do(executions.end_execution, begun.execution.id, actor=ADA, status=status, **changes)


def test_a_mission_is_kept_with_all_its_fields(do):
    """What comes back is what was given."""
    owner = ada(do, policy={"notes": "deny"}, daily_tokens=10, daily_cost=0.5, memory=False, concurrency=3)
    made = news(
        do,
        inputs={"city": "Köln", "n": [1]},
        kits=("notes",),
        limits={"writes": 5},
        agent=owner.id,
        zone="Asia/Kolkata",
    )
    assert do(store.get, made.id) == made
    assert do(store.get_agent, owner.id) == owner
    assert (made.version, made.inputs, made.agent) == (1, {"city": "Köln", "n": [1]}, owner.id)


def test_every_write_names_its_actor_and_grows_the_version(do):
    """So that a later look sees who changed it, and how often."""
    made = news(do)
    changed = do(store.update, made.id, actor=ADA, now=NOW + timedelta(hours=1), concept="Science only")
    assert (changed.version, changed.concept) == (2, "Science only")
    row = do(lambda tx: dict(tx.execute(select(missions)).mappings().one()))
    assert (row["actor"], row["version"]) == ("agent:ada", 2)
    assert row["updated_at"] > row["created_at"]
    paused = do(store.pause, made.id, **WHO)
    assert paused.version == 3


def test_a_change_from_an_old_version_is_a_conflict(do):
    """Two people with the same page open: the second is told, and nothing of it is written."""
    made = news(do)
    do(store.update, made.id, **WHO, version=1, title="Evening news")
    for work in (store.update, store.pause, store.archive, store.delete):
        with pytest.raises(StateError) as caught:
            do(work, made.id, **WHO, version=1)
        assert caught.value.details["reason"] == "conflict"
        assert "version 2" in str(caught.value)
    assert do(store.get, made.id).title == "Evening news"
    agent = ada(do)
    do(store.update_agent, agent.id, **WHO, version=1, persona="Brief")
    with pytest.raises(StateError):
        do(store.update_agent, agent.id, **WHO, version=1, persona="Long")


def test_what_is_deleted_stays_as_a_tombstone(do):
    """Gone for people, there in the table, its name free again."""
    made = news(do)
    assert do(store.delete, made.id, **WHO).deleted
    for work in (store.get, store.find):
        with pytest.raises(NotFoundError):
            do(work, made.id)
    with pytest.raises(NotFoundError):
        do(store.update, made.id, **WHO, title="x")
    assert do(store.listed, archived=True) == []
    assert do(lambda tx: tx.execute(select(missions.c.deleted)).scalars().all()) == [True]
    assert news(do).id != made.id


def test_states_of_a_mission(do):
    """Paused, done and archived ones become active again; nothing moves to where it is."""
    made = news(do)
    for work, state in (
        (store.pause, "paused"),
        (store.resume, "active"),
        (store.complete, "done"),
        (store.resume, "active"),
        (store.archive, "archived"),
    ):
        assert do(work, made.id, **WHO).state == state
        with pytest.raises(StateError) as caught:
            do(work, made.id, **WHO)
        assert state in str(caught.value)
    assert do(store.listed) == []
    assert [one.id for one in do(store.listed, archived=True)] == [made.id]
    with pytest.raises(StateError):
        do(store.pause, made.id, **WHO)


def test_names_ids_and_beginnings_find_a_mission(do):
    """Exactly before partly; several are a question back."""
    first, second = news(do), news(do, title="Morning walk")
    third = news(do, title=second.id)  # a title that is another's id: the id wins
    for reference in ("morning NEWS", " Morning  news ", first.id, first.id[:8], "morning n"):
        assert do(store.find, reference) == first
    assert do(store.find, second.id) == second
    with pytest.raises(AmbiguousError) as caught:
        do(store.find, "morning")
    assert {one["id"] for one in caught.value.details["candidates"]} == {first.id, second.id}
    for reference in ("", " ", "evening", "abc"):
        with pytest.raises(NotFoundError):
            do(store.find, reference)
    assert third.title == second.id


def test_two_living_ones_never_have_one_name(do):
    """Also by renaming, also in another case."""
    made, other = news(do), news(do, title="Walk")
    for work in (
        lambda: news(do, title="MORNING  news"),
        lambda: do(store.update, other.id, **WHO, title="Morning News"),
    ):
        with pytest.raises(StateError, match=made.id):
            work()
    with pytest.raises(StateError):
        do(store.create, Mission(made.id, "Another", "x"), **WHO)
    assert do(store.update, made.id, **WHO, title="Morning NEWS").title == "Morning NEWS"


def test_only_what_is_for_editing_is_edited(do):
    """State, version and tombstone have functions of their own; an agent that is not there owns nothing."""
    made = news(do)
    for wrong in (
        {"state": "done"},
        {"deleted": True},
        {"id": "x"},
        {"colour": "red"},
        {"zone": "Bonn"},
    ):
        with pytest.raises(InputError):
            do(store.update, made.id, **WHO, **wrong)
    with pytest.raises(NotFoundError):
        do(store.update, made.id, **WHO, agent="nobody")
    with pytest.raises(NotFoundError):
        news(do, title="Walk", agent="nobody")
    assert do(store.get, made.id) == made


def test_feedback_belongs_to_a_mission_or_an_execution(do):
    """It comes back with both, the oldest first."""
    made, other = news(do), news(do, title="Walk")
    begun = begin(do, made)
    do(store.add_feedback, made.id, " Shorter ", **WHO)
    do(
        store.add_feedback,
        made.id,
        "Good",
        actor=ME,
        now=NOW + timedelta(minutes=1),
        execution=begun.execution.id,
    )
    assert [one.text for one in do(store.get, made.id).feedback] == ["Shorter", "Good"]
    assert [one.text for one in do(executions.get, begun.execution.id).feedback] == ["Good"]
    with pytest.raises(NotFoundError):
        do(store.add_feedback, other.id, "Good", **WHO, execution=begun.execution.id)
    with pytest.raises(InputError):
        do(store.add_feedback, made.id, " ", **WHO)


def test_secrets_are_not_kept(do):
    """What was registered as a secret is masked in every text and value that is written."""
    from surefoot import redaction

    redaction.register("hunter2-of-the-test")
    made = news(do, concept="key hunter2-of-the-test", inputs={"k": "hunter2-of-the-test"})
    do(store.add_feedback, made.id, "not hunter2-of-the-test", **WHO)
    assert "hunter2" not in str(do(store.get, made.id).to_dict())


# --- executions ------------------------------------------------------------------------------------------------


def test_one_runner_for_each_mission(do):
    """A second execution is refused until the first has ended; another mission's is not."""
    made, other = news(do), news(do, title="Walk")
    first = begin(do, made)
    for status in ("running", "interrupted", "needs_approval"):
        do(executions.end_execution, first.execution.id, actor=ADA, status=status)
        with pytest.raises(StateError) as caught:
            begin(do, made, "2026-04-28")
        assert caught.value.details["run"] == first.execution.id
    begin(do, other)
    end(do, first)
    assert begin(do, made, "2026-04-28").execution.number == 2


def test_an_occurrence_that_was_begun_is_given_back(do):
    """Asked twice, it is executed once: also when it has ended."""
    made = news(do)
    first = begin(do, made)
    again = begin(do, made)
    assert (again.new, again.execution) == (False, first.execution)
    end(do, first)
    assert begin(do, made).execution.status == "done"
    assert len(do(executions.last_executions, made.id)) == 1


def test_cancelled_stays_cancelled(do):
    """No later word changes how an execution ended."""
    begun = begin(do, news(do))
    end(do, begun, "cancelled")
    for status in ("done", "running", "failed"):
        with pytest.raises(StateError):
            end(do, begun, status)
    assert end(do, begun, "cancelled").status == "cancelled"
    with pytest.raises(NotFoundError):
        do(executions.end_execution, "nothing", actor=ADA, status="done")
    with pytest.raises(TypeError):
        do(executions.end_execution, begun.execution.id, actor=ADA, mission="other")


@pytest.mark.parametrize("work", [store.pause, store.archive, store.complete, store.delete])
def test_only_an_active_mission_begins(do, work):
    """And the error says how to go on."""
    made = news(do)
    do(work, made.id, **WHO)
    with pytest.raises((StateError, NotFoundError)):
        begin(do, made)


def test_a_paused_agent_starts_nothing_and_gives_back_its_runs(do):
    """All its missions stop at once: whoever pauses it is told which runs to cancel."""
    agent = ada(do, concurrency=2)
    first, second = news(do, agent=agent.id), news(do, title="Walk", agent=agent.id)
    a, b = begin(do, first), begin(do, second)
    end(do, b)
    paused, runs = do(store.pause_agent, agent.id, **WHO)
    assert (paused.state, paused.version, runs) == ("paused", 2, (a.execution.id,))
    assert "Ada" in do(executions.is_halted, a.execution.id)
    with pytest.raises(StateError, match="Ada"):
        begin(do, second, "2026-04-28")
    assert do(store.pause_agent, agent.id, **WHO)[0].version == 2
    assert do(store.resume_agent, agent.id, **WHO).state == "active"
    assert do(executions.is_halted, a.execution.id) == ""
    with pytest.raises(StateError):
        do(store.resume_agent, agent.id, **WHO)


def test_a_run_is_halted_with_its_mission(do):
    """Paused, archived, deleted; a mission whose goal was reached lets its run end."""
    for work, halted in (
        (store.complete, False),
        (store.pause, True),
        (store.archive, True),
        (store.delete, True),
    ):
        begun = begin(do, news(do, title=work.__name__))
        do(work, begun.mission.id, **WHO)
        assert bool(do(executions.is_halted, begun.execution.id)) is halted
    assert do(executions.is_halted, "no execution") == ""


def test_an_agent_runs_so_many_at_once(do):
    """The next one is refused, and begins when one has ended."""
    agent = ada(do)
    first, second = news(do, agent=agent.id), news(do, title="Walk", agent=agent.id)
    begun = begin(do, first)
    with pytest.raises(StateError) as caught:
        begin(do, second)
    assert caught.value.details["reason"] == "concurrency"
    end(do, begun)
    assert begin(do, second).new


@pytest.mark.parametrize(
    ("limit", "used"), [({"daily_tokens": 100}, {"tokens": 100}), ({"daily_cost": 0.5}, {"cost": 0.75})]
)
def test_an_agents_day_is_the_local_day(do, limit, used):
    """Used up in the evening, open again behind the local midnight, which is not that of UTC."""
    agent = ada(do, **limit)
    made = news(do, agent=agent.id)
    evening = datetime(2026, 4, 26, 22, 30, tzinfo=UTC)  # 00:30 on 27 April in Berlin
    end(do, begin(do, made, "one", now=evening), **used)
    with pytest.raises(BudgetExceededError) as caught:
        begin(do, made, "two", now=NOW)
    assert caught.value.details["limit"] in limit
    assert begin(do, made, "three", now=NOW + timedelta(hours=15)).used == executions.Used()
    assert do(
        executions.used_on_day, agent.id, evening - timedelta(hours=1), "Europe/Berlin"
    ).tokens == used.get("tokens", 0)
    assert do(executions.used_on_day, agent.id, NOW, "UTC") == executions.Used()


def test_an_agent_with_missions_is_not_deleted(do):
    """First its missions go, or get another agent."""
    agent = ada(do)
    made = news(do, agent=agent.id)
    with pytest.raises(StateError, match="Morning news"):
        do(store.delete_agent, agent.id, **WHO)
    do(store.update, made.id, **WHO, agent="")
    assert do(store.delete_agent, agent.id, **WHO).deleted
    assert do(store.listed_agents) == []
    assert do(lambda tx: tx.execute(select(agents.c.deleted)).scalars().all()) == [True]
    with pytest.raises(NotFoundError):
        do(store.find_agent, "Ada")


def test_executions_are_found_by_number_and_run(do):
    """As a person names them."""
    made = news(do)
    begun = begin(do, made, run="0123456789abcdef")
    for reference in ("1", "0123456789abcdef", "0123", "01234567"):
        assert do(executions.of_mission, made.id, reference) == begun.execution
    for reference in ("2", "", "012", "ffff"):
        with pytest.raises(NotFoundError):
            do(executions.of_mission, made.id, reference)
    assert [one.id for one, owner in do(executions.open_executions)] == ["0123456789abcdef"]


def test_the_tables_statements_are_no_ones_dialect(do):
    """What is read to be changed is locked where a database can lock a row."""
    from sqlalchemy.dialects import postgresql

    text = str(select(missions).with_for_update().compile(dialect=postgresql.dialect()))
    assert text.rstrip().endswith("FOR UPDATE")
