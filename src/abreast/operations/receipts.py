"""Let a mutation take effect once: its receipt is stored in the transaction of its rows."""

from __future__ import annotations

import hmac
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from abreast.errors import MutationReused
from abreast.model.write import WriteResult
from abreast.sql.dialects import insert_missing
from abreast.sql.values import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from abreast.model.write import Change, WriteRequest
    from abreast.sql.mapping import Catalog, EntityTable
    from abreast.sql.tables import Tables

_KEY_ROW = "payload_key"


def installation_secret(connection: Connection, tables: Tables, *, new_secret: bytes) -> bytes:
    """Give the key of payload hashes; a plain hash of a short value is as good as the value."""
    wanted = select(tables.installation.c.secret).where(tables.installation.c.name == _KEY_ROW)
    found = connection.execute(wanted).scalar()
    if found is None:
        values = {"name": _KEY_ROW, "secret": new_secret}
        insert_missing(connection, tables.installation, values)
        found = connection.execute(wanted).scalar_one()
    return bytes(found)


def payload_hash(request: WriteRequest, catalog: Catalog, secret: bytes) -> str:
    """
    Hash what a request would write (HMAC-SHA256, RFC 2104).

    Values are hashed as they would be stored, however the caller wrote them.
    The expected versions are left out: they say when the write may happen, not what it writes, and a caller
    that repeats a write after reading again has another one.
    """
    payload = [_payload(change, catalog.find(change.entity_type)) for change in request.changes]
    return hmac.new(secret, canonical(payload).encode(), sha256).hexdigest()


def find(connection: Connection, tables: Tables, request: WriteRequest, digest: str) -> tuple[WriteResult, ...] | None:
    """
    Give the recorded results of a mutation that took effect, or None.

    Raises:
        MutationReused: It took effect with another payload.
    """
    mutation = tables.mutation
    wanted = select(mutation.c.payload_hash, mutation.c.result).where(
        mutation.c.workspace_id == request.workspace_id, mutation.c.mutation_id == request.mutation_id
    )
    row = connection.execute(wanted).first()
    if row is None:
        return None
    if not hmac.compare_digest(row.payload_hash, digest):
        raise MutationReused(request.workspace_id, str(request.mutation_id))
    recorded: list[dict[str, Any]] = row.result
    return tuple(_result(connection, tables, value) for value in recorded)


def store(
    connection: Connection,
    tables: Tables,
    request: WriteRequest,
    digest: str,
    results: Sequence[WriteResult],
    now: int,
) -> bool:
    """Store a receipt; False if there is one already. Waits for one that is being stored."""
    values = {
        "workspace_id": request.workspace_id,
        "mutation_id": request.mutation_id,
        "payload_hash": digest,
        "result": [asdict(result) for result in results],
        "created_at": now,
    }
    return insert_missing(connection, tables.mutation, values)


def amend(connection: Connection, tables: Tables, request: WriteRequest, results: Sequence[WriteResult]) -> None:
    """Put what became known only with the write, a generated key, into the receipt."""
    mutation = tables.mutation
    connection.execute(
        update(mutation)
        .where(mutation.c.workspace_id == request.workspace_id, mutation.c.mutation_id == request.mutation_id)
        .values(result=[asdict(result) for result in results])
    )


def _payload(change: Change, entity: EntityTable) -> list[Any]:
    fields = entity.native(change.fields)
    return [
        change.operation,
        change.workspace_id,
        change.to_workspace,
        change.entity_type,
        None if change.operation == "insert" else entity.entity_id(entity.key_values(change.key)),
        {name: entity.json_value(name, value) for name, value in fields.items()},
        change.merge,
    ]


def _result(connection: Connection, tables: Tables, value: dict[str, Any]) -> WriteResult:
    event = tables.workspace_event
    fields: dict[str, Any] = {**value, "changed_fields": tuple(value["changed_fields"])}
    result = WriteResult(**fields)
    if result.event_id is None:
        return replace(result, replayed=True)
    numbered = select(event.c.revision).where(
        event.c.workspace_id == result.workspace_id, event.c.event_id == result.event_id
    )
    return replace(result, replayed=True, revision=connection.execute(numbered).scalar())
