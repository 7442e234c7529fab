"""Write product rows and their events together: insert, update, delete under a version and a mutation id."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abreast.errors import EntityNotFound, StaleWrite
from abreast.model.event import Event
from abreast.model.write import WriteResult
from abreast.operations import receipts
from abreast.operations.moves import followers, gone_and_come
from abreast.operations.plan import Plan, Planned
from abreast.operations.record import record

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.model.write import WriteRequest
    from abreast.operations.plan import WriteContext
    from abreast.operations.rows import StoredRow


def write(connection: Connection, context: WriteContext, request: WriteRequest) -> tuple[WriteResult, ...]:
    """
    Apply a request's changes and record their events, unnumbered.

    All checks come before the first change, so a refusal leaves the caller's transaction as it was. Rows are
    locked in the order of the request. A change that changes nothing makes no event and no version.

    Raises:
        EntityNotFound: A row is not in the workspace.
        StaleWrite: A row has another version than expected.
        VersionRequired: A change names no expected version.
        MutationReused: The mutation id took effect with another payload.
        WriteRefused: The database refuses a row.
    """
    digest = (
        receipts.payload_hash(request, context.catalog, context.secret) if request.mutation_id is not None else None
    )
    try:
        plan = Plan(connection, context).of(request)
    except (EntityNotFound, StaleWrite):
        recorded = digest and receipts.find(connection, context.tables, request, digest)
        if not recorded:
            raise
        return recorded
    results = tuple(_result(planned) for planned in plan)
    if digest is not None and not receipts.store(connection, context.tables, request, digest, results, context.now):
        return receipts.find(connection, context.tables, request, digest) or ()
    return _applied(connection, context, request, plan, results)


def _applied(
    connection: Connection,
    context: WriteContext,
    request: WriteRequest,
    plan: list[Planned],
    results: tuple[WriteResult, ...],
) -> tuple[WriteResult, ...]:
    events: list[Event] = []
    for place, planned in enumerate(plan):
        taken_along = followers(planned, context)
        for follower in taken_along:
            follower.move(planned.change.to_workspace)
        _apply(planned, plan[place + 1 :])
        events += (own := _events(planned, context, request))
        for follower in taken_along:
            events += follower.events(own[0], context, planned.change.to_workspace)
    record(connection, context.tables, events)
    final = tuple(_result(planned) for planned in plan)
    if request.mutation_id is not None and final != results:
        receipts.amend(connection, context.tables, request, final)
    return final


def _apply(planned: Planned, later: list[Planned]) -> None:
    if planned.before is planned.after:
        return
    if planned.before is None:
        assert planned.after is not None
        assumed = planned.after
        planned.after = planned.rows.insert(planned.changed, assumed.version)
        if assumed.entity_id and planned.after.version != assumed.version:
            _raise_versions(later, planned, planned.after.version - assumed.version)
    elif planned.after is None:
        planned.rows.delete(planned.before, planned.key)
    else:
        planned.rows.update(planned.before, planned.key, planned.changed, planned.after.version)
        if planned.moves:
            moved = replace(planned.rows, workspace_id=planned.change.to_workspace)
            moved.keep_version(planned.after.entity_id, planned.after.version)


def _raise_versions(later: list[Planned], inserted: Planned, by: int) -> None:
    """Let the block's further changes of a row begin where its insert, which waited for a deletion, ended."""
    for planned in later:
        before, after = planned.before, planned.after
        if before is not None and planned.entity is inserted.entity and before.entity_id == _id_of(inserted):
            planned.before = replace(before, version=before.version + by)
            same = after is before
            planned.after = planned.before if same else after and replace(after, version=after.version + by)


def _id_of(planned: Planned) -> str | None:
    return None if planned.after is None else planned.after.entity_id


def _result(planned: Planned) -> WriteResult:
    known = planned.after or planned.before
    assert known is not None
    return WriteResult(
        workspace_id=planned.change.to_workspace,
        entity_type=planned.entity.name,
        entity_id=known.entity_id,
        operation=planned.change.operation,
        version=planned.version,
        changed_fields=_changed_fields(planned),
        event_id=planned.event_ids[-1] if planned.event_ids else None,
    )


def _changed_fields(planned: Planned) -> tuple[str, ...]:
    entity = planned.entity
    # An insert fills the workspace in; a row that changes it is told as a deletion and an insertion.
    unnamed = {*entity.secrets, entity.version_field, entity.own_workspace_field}
    return tuple(sorted(name for name in planned.changed if name not in unnamed))


def _events(planned: Planned, context: WriteContext, request: WriteRequest) -> list[Event]:
    if not planned.event_ids:
        return []
    event = Event(
        workspace_id=planned.change.workspace_id,
        event_id=planned.event_ids[0],
        revision=None,
        entity_type=planned.entity.name,
        entity_id=_result(planned).entity_id,
        version=planned.version,
        operation=planned.change.operation,
        changed_fields=_changed_fields(planned),
        before=_values(planned, planned.before),
        after=_values(planned, planned.after),
        actor=request.actor,
        source_thread_id=request.source_thread_id,
        run_id=request.run_id,
        mutation_id=request.mutation_id,
        created_at=context.now,
    )
    if planned.before is None or planned.after is None or not planned.moves:
        return [event]
    before, after = planned.before.values, planned.after.values
    return gone_and_come(planned.entity, event, before, after, planned.change.to_workspace, planned.event_ids[1])


def _values(planned: Planned, row: StoredRow | None) -> dict[str, Any] | None:
    entity = planned.entity
    if row is None or entity.entity.event_values == "names":
        return None
    exposed = entity.exposed(row.values)
    if planned.before is None or planned.after is None:
        return exposed
    return {name: value for name, value in exposed.items() if name in planned.changed}
