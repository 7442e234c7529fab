"""Every error abreast raises: one tree, fields kept as attributes, each message ends with the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abreast.errors.base import AbreastError, Conflict, InvalidInput, NotFound
from abreast.errors.changes import Author, RecordedChange
from abreast.errors.checkpoints import (
    CheckpointConflict,
    CheckpointCorrupt,
    CheckpointsNeeded,
    StateTooLarge,
    ThreadDeleted,
)
from abreast.errors.runs import (
    LeaseLost,
    NotBound,
    NothingToAnswer,
    QuestionOpen,
    RunStopped,
    StateUnavailable,
    ThreadBusy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AbreastError",
    "AccessDenied",
    "Author",
    "CheckpointConflict",
    "CheckpointCorrupt",
    "CheckpointsNeeded",
    "Conflict",
    "CursorRefused",
    "DatabaseBusy",
    "DatabaseUnavailable",
    "EntityNotFound",
    "InvalidDatabase",
    "InvalidEntity",
    "InvalidInput",
    "LeaseLost",
    "MutationReused",
    "NotBound",
    "NotFound",
    "NothingToAnswer",
    "QuestionOpen",
    "RecordedChange",
    "ReplicaBehind",
    "RunStopped",
    "SchemaError",
    "SchemaMissing",
    "SchemaTooNew",
    "SchemaTooOld",
    "StaleWrite",
    "StateTooLarge",
    "StateUnavailable",
    "SyncCallOnAsyncDatabase",
    "TableMissing",
    "ThreadBoundElsewhere",
    "ThreadBusy",
    "ThreadDeleted",
    "UnknownEntity",
    "UnknownField",
    "VersionRequired",
    "WorkspaceNotFound",
    "WriteRefused",
]


class UnknownEntity(AbreastError, LookupError):
    """An entity was named that the log was not given."""

    def __init__(self, entity: str, known: Sequence[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(
            f"entity {entity!r} is not registered (registered: {names}); "
            "add Entity(...) for it to WorkspaceLog(entities=[...])"
        )
        self.entity = entity
        self.known = tuple(sorted(known))


class UnknownField(AbreastError, LookupError):
    """A field was named that the entity's table does not have."""

    def __init__(self, entity_type: str, field: str, known: Sequence[str]) -> None:
        super().__init__(f"{entity_type} has no field {field!r}; use one of: {', '.join(known)}")
        self.entity_type = entity_type
        self.field = field
        self.known = tuple(known)


class InvalidEntity(AbreastError, ValueError):
    """An `Entity` does not fit the table it describes."""

    def __init__(self, entity_type: str, problem: str, way_out: str) -> None:
        super().__init__(f"Entity {entity_type!r}: {problem}; {way_out}")
        self.entity_type = entity_type
        self.problem = problem


class WorkspaceNotFound(NotFound):
    """A workspace has no log yet: nothing was recorded in it and no thread was opened on it."""

    def __init__(self, workspace_id: str) -> None:
        super().__init__(
            "workspace",
            workspace_id,
            "check the id; a workspace begins with its first row, or with open_workspace()",
        )
        self.workspace_id = workspace_id


class EntityNotFound(NotFound):
    """A row does not exist in this workspace; whether it exists elsewhere is not said."""

    def __init__(self, workspace_id: str, entity_type: str, entity_id: str) -> None:
        super().__init__(
            entity_type,
            entity_id,
            f"read the rows of workspace {workspace_id!r} again and use an id from there",
        )
        self.workspace_id = workspace_id
        self.entity_type = entity_type
        self.entity_id = entity_id


class StaleWrite(Conflict):
    """
    A row changed after the version the caller had read; nothing was stored.

    Attributes:
        entity_type: The row's entity.
        entity_id: The row.
        changes: The events (`Event`) since the expected version, oldest first, at most 20, without hidden values.
            Empty where the change was made past the log.
    """

    changes: tuple[RecordedChange, ...]

    def __init__(
        self,
        entity_type: str,
        entity_id: str,
        expected: object,
        actual: object,
        changes: Sequence[RecordedChange],
    ) -> None:
        detail = "; ".join(
            f"{event.actor.type} {event.operation}: {', '.join(event.changed_fields) or 'the row'}" for event in changes
        )
        super().__init__(
            f"{entity_type} {entity_id!r} version",
            expected,
            actual,
            "read the row again, then write with its version",
            detail and f"since then {detail}",
        )
        self.entity_type = entity_type
        self.entity_id = entity_id
        self.changes = tuple(changes)


class VersionRequired(AbreastError, ValueError):
    """A write came without `expected_version`, which would overwrite unseen changes."""

    def __init__(self, entity_type: str, entity_id: str) -> None:
        super().__init__(
            f"{entity_type} {entity_id!r}: expected_version is missing; pass the version you last read, "
            'or expected_version="any" to overwrite whatever is there'
        )
        self.entity_type = entity_type
        self.entity_id = entity_id


class MutationReused(AbreastError):
    """A `mutation_id` came again with another payload; nothing was stored."""

    def __init__(self, workspace_id: str, mutation_id: str) -> None:
        super().__init__(
            f"mutation_id {mutation_id!r} was already used in workspace {workspace_id!r} for another write; "
            "use a new mutation_id for a new write, and the old one only to repeat the same write"
        )
        self.workspace_id = workspace_id
        self.mutation_id = mutation_id


class WriteRefused(AbreastError):
    """
    The database refused a row; nothing was stored.

    The driver's own text is left out: it can hold the values of hidden fields.

    Attributes:
        entity_type: The entity that was written.
        reason: The driver's error class and SQLSTATE, where there is one.
        constraint: Name of the constraint, where the database says it.
    """

    def __init__(self, entity_type: str, reason: str, constraint: str | None) -> None:
        by = f" by constraint {constraint!r}" if constraint else ""
        super().__init__(
            f"the database refused the write of {entity_type}{by} ({reason}); "
            "check the values against the table's constraints, then write again"
        )
        self.entity_type = entity_type
        self.reason = reason
        self.constraint = constraint


class AccessDenied(AbreastError):
    """
    The database does not let the role of the URL do what a call needs; nothing was stored.

    Attributes:
        database: Its URL without the password.
        reason: What the server refused, in its own words: they speak of tables, never of rows.
        rights: What the refused statement needs, as `"SELECT"` or `"SELECT and UPDATE"`.
    """

    def __init__(self, database: str, reason: str, rights: str) -> None:
        super().__init__(
            f"database {database}: {reason}; the statement needs {rights}: GRANT it to the role of the URL, or use "
            "another role"
        )
        self.database = database
        self.reason = reason
        self.rights = rights


class TableMissing(AbreastError):
    """
    A product table does not exist in the database, or lacks a column of its description; nothing was stored.

    Attributes:
        entity_type: The entity that was read or written.
        tables: Its table, and those on the way to its workspace.
    """

    def __init__(self, entity_type: str, tables: Sequence[str]) -> None:
        named = " or ".join(f"{table!r}" for table in tables)
        super().__init__(
            f"entity {entity_type!r}: table {named} does not exist in the database, or has not all of the columns that "
            "its class names; create your tables (database.run(Base.metadata.create_all), or your own migrations)"
        )
        self.entity_type = entity_type
        self.tables = tuple(tables)


class ThreadBoundElsewhere(AbreastError):
    """A thread was used with a workspace other than the one it was opened on."""

    def __init__(self, thread_id: str, workspace_id: str) -> None:
        super().__init__(
            f"thread {thread_id!r} is not a thread of workspace {workspace_id!r}; "
            "use the workspace it was opened on, or open a thread with a new id"
        )
        self.thread_id = thread_id
        self.workspace_id = workspace_id


class CursorRefused(AbreastError):
    """A cursor was confirmed that the log never delivered or that belongs to another epoch."""

    def __init__(self, thread_id: str, problem: str) -> None:
        super().__init__(
            f"cursor of thread {thread_id!r} was not moved: {problem}; the run's answer stands, go on: the next run "
            "reads again and is told what it has to know. Confirm nothing that no model was given"
        )
        self.thread_id = thread_id
        self.problem = problem


class ReplicaBehind(AbreastError):
    """The database read from has not reached the thread's cursor yet."""

    def __init__(self, workspace_id: str, head: int, cursor: int) -> None:
        super().__init__(
            f"workspace {workspace_id!r}: HEAD is {head}, the thread has already processed {cursor}; "
            "read from the primary or wait for the replica. If the database was restored from a backup, "
            "run `abreast log renew-epoch` once"
        )
        self.workspace_id = workspace_id
        self.head = head
        self.cursor = cursor


UPGRADE = "run `abreast db upgrade --database URL` or call database.upgrade()"


class SchemaError(AbreastError):
    """abreast's own tables do not fit this version of the code."""


class SchemaMissing(SchemaError):
    """The database has no abreast tables, or not all of them."""

    def __init__(self, detail: str, way_out: str = UPGRADE) -> None:
        super().__init__(f"{detail}; {way_out}")


class SchemaTooOld(SchemaError):
    """The tables were made by an older version of abreast."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__(f"abreast's tables are at migration {found}, this code needs {wanted}; {UPGRADE}")
        self.found = found
        self.wanted = wanted


class SchemaTooNew(SchemaError):
    """The tables were made by a newer version of abreast."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__(
            f"abreast's tables are at migration {found}, which this code (migration {wanted}) does not know; "
            "upgrade the abreast package on this host, nothing was changed"
        )
        self.found = found
        self.wanted = wanted


class DatabaseUnavailable(AbreastError):
    """
    The database could not be reached or stayed busy; nothing of the last attempt was stored for sure.

    Attributes:
        database: Its URL without the password.
        reason: What happened.
        way_out: What to look at before it is tried again.
    """

    def __init__(self, database: str, reason: str) -> None:
        self.database = database
        self.reason = reason
        self.way_out = _way_out(database, reason)
        super().__init__(
            f"database {database} is not available ({reason}); {self.way_out}, then try again: a write with a "
            "mutation_id is safe to repeat"
        )


class DatabaseBusy(DatabaseUnavailable):
    """A row or the file stayed locked by somebody else's transaction; nothing was stored."""

    def __init__(self, database: str, reason: str) -> None:
        self.database = database
        self.reason = reason
        self.way_out = "end the transaction that holds it"
        AbreastError.__init__(
            self,
            f"a row that this needs stayed locked in database {database} ({reason}); {self.way_out}, or raise "
            "lock_timeout, then try again",
        )


def _way_out(database: str, reason: str) -> str:
    if database.startswith("sqlite"):
        return "check the path: its folder has to be there, the file has to be a SQLite database, and both writable"
    if "does not exist" in reason:
        return "create what does not exist, or check the names in the URL"
    return "check that it runs and is reachable"


class InvalidDatabase(AbreastError, ValueError):
    """A database URL or engine cannot be used by abreast."""

    def __init__(self, database: str, problem: str, way_out: str) -> None:
        super().__init__(f"database {database}: {problem}; {way_out}")
        self.database = database
        self.problem = problem


class SyncCallOnAsyncDatabase(AbreastError, RuntimeError):
    """A sync method was called on a database that has only an async driver, or the other way round."""

    def __init__(self, way_out: str) -> None:
        super().__init__(f"this database has no driver for the call; {way_out}")
