"""I4: every event after a cursor is delivered at least once; a repeat is harmless."""

from abreast import Actor, Entity
from tests.contract.history import DAY, START, edit, moves, remove, store
from tests.contract.product import AGENT, JOB, MOVE, OTHER_USER, USER, Move, item, label, slot


def deliver_all(client, **options):
    """Read and confirm until nothing remains; gives the batches."""
    batches = []
    while not batches or batches[-1].remaining:
        batches.append(client.read_batch(**options))
        client.confirm(batches[-1])
    return batches


def sizes(batches):
    """Give each batch's lines and what remained after it."""
    return [(len(batch.lines), batch.remaining) for batch in batches]


def named(lines):
    """Give what lines say happened to which row."""
    return [(line.kind, line.entity_id, line.field, line.before, line.after) for line in lines]


def test_a_change_is_told_with_old_and_new_value(client):
    """A line names row, field, values, who, where from and when; the row is given as it is now. I4"""
    client.insert(Move, {"id": "m1", "move_in_date": "2026-09-28"})
    client.open_thread()
    client.update(Move, "m1", {"move_in_date": "2026-09-30"}, actor=AGENT, source_thread_id="t2")
    batch = client.read_batch()
    (line,) = batch.lines
    assert ("update", "m1", "move_in_date", "2026-09-28", "2026-09-30") == named([line])[0]
    assert ((AGENT,), ("t2",), 1, 2, 2) == (
        line.actors,
        line.threads,
        line.count,
        line.first_revision,
        line.last_revision,
    )
    assert line.first_at == line.last_at == client.recorded()[1].created_at
    assert "2026-09-30" == batch.current["move", "m1"].values["move_in_date"]
    assert (1, 0, ()) == (batch.event_count, batch.remaining, batch.summary)


def test_a_batch_that_is_not_confirmed_is_given_again(client):
    """A failed run's changes come again, the same ones first, with what happened meanwhile. I4"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    client.insert(Move, {"id": "m2"})
    first = client.read_batch()
    assert first == client.read_batch()
    client.insert(Move, {"id": "m3"})
    assert ["m2", "m3"] == [line.entity_id for line in client.read_batch().lines]


def test_nothing_is_told_twice_after_success(client):
    """A confirmed batch's changes do not come again. I3 I4"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    client.insert(Move, {"id": "m2"})
    client.confirm(client.read_batch())
    assert ((), 0) == (client.read_batch().lines, client.read_batch().event_count)


def test_rows_that_came_and_went(client):
    """Insertions, deletions, both at once and replacements each are one line for the row. I4"""
    for place in range(1, 4):
        client.insert(Move, {"id": f"m{place}"})
    client.open_thread()
    client.delete(Move, "m1")
    client.insert(Move, {"id": "m4", "stage": "booked"})
    client.insert(Move, {"id": "m5"})
    client.delete(Move, "m5")
    client.delete(Move, "m2")
    client.insert(Move, {"id": "m2", "stage": "again"})
    batch = client.read_batch()
    assert [("delete", "m1"), ("insert", "m4"), ("transient", "m5"), ("replace", "m2")] == [
        (line.kind, line.entity_id) for line in batch.lines
    ]
    assert [None, "m4", None, "m2"] == [
        row and row.entity_id for row in (batch.current["move", line.entity_id] for line in batch.lines)
    ]
    assert ["new", "booked", "new", "again"] == [line.values["stage"] for line in batch.lines]


def test_hidden_fields_are_named_and_others_make_no_line(client):
    """A hidden field's change is a line without values; a secret or unexposed one's is delivered silently. I4 I9"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    client.update(Move, "m1", {"door_code": "1111", "alarm_code": "2222", "memo": "3333"})
    client.update(Move, "m1", {"memo": "4444"})
    batch = client.read_batch()
    (line,) = batch.lines
    assert ("door_code", False, False, 1) == (line.field, line.has_before, line.has_after, line.count)
    assert (2, 3) == (batch.event_count, batch.cursor_after.revision)


def test_names_only_events_still_tell_the_value_now(client):
    """An entity whose events hold no values gets lines without them, and the row as it is. I4"""
    names = client.of(Entity(Move, expose=["stage"], event_values="names"))
    names.insert(Move, {"id": "m1"})
    names.open_thread()
    names.update(Move, "m1", {"stage": "booked"})
    batch = names.read_batch()
    assert ("stage", False, False) == (
        batch.lines[0].field,
        batch.lines[0].has_before,
        batch.lines[0].has_after,
    )
    assert "booked" == batch.current["move", "m1"].values["stage"]


def test_76_changes_of_76_rows_come_as_50_and_26(client):
    """A backlog beyond the limit is spread over the next runs, and each says how many remain. I4"""
    ids = moves(client, 76)
    client.open_thread()
    store(client, [edit(place, id_, 2) for place, id_ in enumerate(ids, start=1)])
    batches = deliver_all(client)
    assert [(50, 26), (26, 0)] == sizes(batches)
    assert ids == [line.entity_id for batch in batches for line in batch.lines]
    assert [50, 76] == [batch.cursor_after.revision for batch in batches]


def test_three_full_runs_are_listed_and_one_line_more_is_summed_up(client):
    """Up to `max_runs` runs list everything; beyond that the rest comes as counts in the first. I4"""
    ids = moves(client, 151)
    client.open_thread()
    store(client, [edit(place, id_, 2) for place, id_ in enumerate(ids[:150], start=1)])
    client.open_thread(thread_id="t2")
    assert [(50, 100), (50, 50), (50, 0)] == sizes(deliver_all(client))
    client.rows("UPDATE abreast_thread_cursor SET revision = 0, mark = ''")
    store(client, [edit(151, ids[150], 2)])
    batch = client.read_batch()
    (summary,) = batch.summary
    assert (50, 0, 151, 151) == (
        len(batch.lines),
        batch.remaining,
        batch.event_count,
        batch.cursor_after.revision,
    )
    assert ("move", "update", USER, 101, 101, 51, 151) == (
        summary.entity_type,
        summary.operation,
        summary.actor,
        summary.count,
        summary.rows,
        summary.first_revision,
        summary.last_revision,
    )


def test_ten_thousand_changes_of_a_hundred_rows_come_in_one_run(client):
    """Lines for the first ones, counts by type, operation and actor for the others, and the cursor at HEAD. I4"""
    ids = moves(client, 100)
    client.open_thread()
    actors = (USER, OTHER_USER, AGENT, JOB)
    store(
        client,
        [
            edit(place + 1, ids[place % 100], 2 + place // 100, actor=actors[place % 4], at=START + place)
            for place in range(10_000)
        ],
    )
    batch = client.read_batch()
    assert (50, 4, 0, 10_000) == (len(batch.lines), len(batch.summary), batch.remaining, batch.event_count)
    assert ids[:50] == [line.entity_id for line in batch.lines]
    assert [2_488, 2_488, 2_487, 2_487] == sorted((line.count for line in batch.summary), reverse=True)
    assert 10_000 == sum(line.count for line in (*batch.lines, *batch.summary))
    assert (START + 50, START + 9_999) == (
        min(line.first_at for line in batch.summary),
        max(line.last_at for line in batch.summary),
    )
    assert (10_000, 10_000) == (batch.head, batch.cursor_after.revision)
    client.confirm(batch)
    assert 0 == client.read_batch().event_count


def test_a_months_edits_of_ten_rows_fit_one_run(client):
    """All edits of one field of a row are one line: first value, last value, who, how often, from when to when. I4"""
    ids = moves(client, 10)
    client.open_thread()
    store(
        client,
        [
            edit(
                1 + day * 10 + row,
                id_,
                2 + day,
                stage=(f"day {day}", f"day {day + 1}"),
                actor=AGENT if day == 9 else USER,
                at=START + day * DAY,
            )
            for day in range(30)
            for row, id_ in enumerate(ids)
        ],
    )
    (batch,) = deliver_all(client)
    assert [("update", id_, "stage", "day 0", "day 30") for id_ in ids] == named(batch.lines)
    assert {(30, (USER, AGENT), START, START + 29 * DAY)} == {
        (line.count, line.actors, line.first_at, line.last_at) for line in batch.lines
    }


def test_a_batch_is_bounded_in_bytes(client):
    """Long values end a batch before its lines do; the first event always fits. I4 I14"""
    client.insert(Move, {"id": "m0"})
    client.open_thread()
    for place in range(4):
        client.insert(Move, {"id": f"m{place + 1}", "note": "x" * 1_500})
    assert [(2, 2), (2, 0)] == sizes(deliver_all(client, max_bytes=3_200))
    client.update(Move, "m1", {"note": "y" * 5_000})
    assert [(1, 0)] == sizes(deliver_all(client, max_bytes=10))


def test_w27_one_transaction_of_120_events(client):
    """All of it is delivered over as many runs as it takes, and a run that crashed is repeated. I4"""
    client.open_workspace("w1")
    client.open_thread()
    with client.write() as write:
        for place in range(120):
            write.insert(Move, {"id": f"m{place:03}"})
    crashed = client.read_batch()
    batches = [client.read_batch()]
    assert crashed == batches[0]
    client.confirm(batches[0])
    assert [(50, 20), (20, 0)] == sizes(batches + deliver_all(client))[1:]
    assert (50, 70) == sizes(batches)[0]
    assert 120 == client.head()
    assert {("t1", ""): 120} == client.cursors()


def test_w28_holes_are_passed_in_one_statement_a_page(client):
    """Of a million revisions a few are left: the next ones are found at once, and counted as they are. I4"""
    ids = moves(client, 60)
    store(client, [edit(place, id_, 2) for place, id_ in enumerate(ids, start=1)])
    client.number("w1")
    client.rows("UPDATE abreast_workspace_event SET revision = 900000 + revision * 1000")
    client.rows("UPDATE abreast_workspace SET head = 960000")
    assert 905_000 == client.forget_before("w1", 905_000)
    mark = client.changes(limit=1)[0].event_id
    client.open_thread()
    client.rows("UPDATE abreast_thread_cursor SET revision = 905000, mark = :mark", mark=mark)
    remove(client, [906_000, 907_000, 930_000])
    with client.statements() as sent:
        batches = [client.read_batch(limit=50)]
    assert 1 == sum("revision > " in statement for statement in sent)
    client.confirm(batches[0])
    batches += deliver_all(client)
    assert [(50, 2), (2, 0)] == sizes(batches)
    assert ["m007", "m008"] == [line.entity_id for line in batches[0].lines[:2]]
    assert [959_000 - 1_000, 960_000] == [batch.cursor_after.revision for batch in batches]


def test_events_of_entities_the_log_does_not_know_are_passed_over(client):
    """Another service, or an older release, may record entities that this log was not given. I4"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    client.insert(label, {"text": "fragile"})
    client.insert(slot, {"day": "2026-09-28", "hour": 9})
    client.update(slot, ("2026-09-28", 9), {"taken_by": "m1"})
    client.update(Move, "m1", {"stage": "booked"})
    client.delete(slot, ("2026-09-28", 9))
    batch = client.of(MOVE).read_batch()
    assert ["stage"] == [line.field for line in batch.lines if line.entity_type == "move"]
    assert (5, 6) == (batch.event_count, batch.cursor_after.revision)
    assert {("move", "m1")} == {key for key, row in batch.current.items() if row is not None}


def test_a_summary_may_count_entities_the_log_does_not_know(client):
    """What is summed up is counted whoever described it. I4"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    for place in range(1, 4):
        client.insert(label, {"text": str(place)})
        client.update(Move, "m1", {"stage": str(place)})
        client.insert(Move, {"id": f"n{place}"})
    batch = client.of(MOVE).read_batch(limit=1, max_runs=1)
    assert 9 == batch.event_count == batch.head - 1
    assert 0 == batch.remaining


def test_erased_values_leave_the_events(client):
    """A row's stored values can be taken out of the log; its events are still delivered, by name. I4"""
    client.insert(Move, {"id": "m1", "note": "call at night"})
    client.insert(Move, {"id": "m2", "note": "kept"})
    client.open_thread()
    client.update(Move, "m1", {"note": "call by day"})
    client.delete(Move, "m1")
    assert 3 == client.erase("w1", Move, "m1")
    assert "call" not in client.dump()
    assert "kept" in client.dump()
    assert [("delete", "m1", None, None, None)] == named(client.read_batch().lines)
    assert [None] * 3 == [event.after for event in client.changes(entity=Move, key="m1")]
    assert 0 == client.erase("w1", Move, "m9")


def test_a_row_is_given_as_it_is_though_the_list_leaves_it_out(client):
    """Changed rows beyond an entity's limit or outside its filter are read besides. I4"""
    few = client.of(
        Entity(
            Move,
            expose=["stage"],
            limit=2,
            order_by=["-id"],
            where=lambda columns, _: columns.stage != "done",
        )
    )
    for place in range(1, 5):
        few.insert(Move, {"id": f"m{place}"})
    few.open_thread()
    few.update(Move, "m1", {"stage": "booked"})
    few.update(Move, "m4", {"stage": "done"})
    batch = few.read_batch()
    (listed,) = batch.snapshot.entities
    assert (["m3", "m2"], 3) == ([row.entity_id for row in listed.rows], listed.total)
    assert {"m1": "booked", "m4": "done"} == {row.entity_id: row.values["stage"] for row in batch.current.values()}


def test_every_kind_of_key_is_found_again(client):
    """Rows are read back by the ids in their events: texts, numbers, and keys of several columns. I4"""
    client.insert(Move, {"id": 'a "b" ['})
    client.open_thread()
    few = client.of(*(type(MOVE)(table, expose=expose, limit=1, workspace=path) for table, expose, path in TABLES))
    few.insert(item, {"id": "c0", "move_id": 'a "b" [', "title": "Boxes"})
    for place in range(3):
        few.insert(label, {"text": f"label {place}"})
        few.insert(slot, {"day": "2026-09-28", "hour": place})
        few.insert(item, {"id": f"[{place},", "move_id": 'a "b" [', "title": "Chairs"})
    batch = few.read_batch()
    assert 10 == len(batch.lines)
    assert [] == [key for key, row in batch.current.items() if row is None]


TABLES = (
    (label, ["text"], "workspace_id"),
    (slot, ["hour"], "workspace_id"),
    (item, ["title"], "move_id.workspace_id"),
)


def test_actors_of_every_kind_are_told(client):
    """Who took part in a line is kept with type and id, each once and in order. I4"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    actors = [USER, AGENT, JOB, Actor.database("reporting"), USER]
    for place, actor in enumerate(actors):
        client.update(Move, "m1", {"stage": str(place)}, actor=actor)
    assert (USER, AGENT, JOB, Actor.database("reporting")) == client.read_batch().lines[0].actors
