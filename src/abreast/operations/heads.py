"""The head row of a thread: which checkpoint is the newest, who may publish, whether the thread is deleted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from sqlalchemy import BigInteger, and_, bindparam, case, exists, func, literal, or_, select, update

from abreast.errors import CheckpointConflict, LeaseLost, ThreadBusy, ThreadDeleted
from abreast.operations import leases
from abreast.sql.columns import KeyText
from abreast.sql.dialects import dialect_of, insert_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from sqlalchemy import ColumnElement, Connection, ScalarSelect, Update

    from abreast.sql.dialects import Dialect
    from abreast.sql.tables import Tables

ERROR_INDEX: Final = -1
INTERRUPT_INDEX: Final = -3
RESUME_INDEX: Final = -4
_STATE_OF: Final = {ERROR_INDEX: "failed", INTERRUPT_INDEX: "interrupted", RESUME_INDEX: "working"}
"""What becomes of a thread by an error, a question, an answer."""


class Head(NamedTuple):
    """
    A thread as its head row has it.

    Attributes:
        head_id: The newest checkpoint of the graph itself; None while there is none.
        buried_id: The checkpoint that was the newest of a deleted thread.
        version_id: Raised by every publish of any namespace.
        epoch: Raised by every deletion.
        fence: The highest of a run that has loaded the thread or published to it.
    """

    head_id: str | None
    version_id: int
    epoch: int
    fence: int
    deleted: bool
    buried_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """
    By what right somebody changes a thread.

    Attributes:
        fence: The fence of the run's lease; None without a run.
        epoch: The epoch that was loaded; None if it is not known.
        watches_lease: Without a run: leases are in this database, and a valid one refuses the change.
    """

    thread_id: str
    fence: int | None = None
    epoch: int | None = None
    watches_lease: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """
    How a publish moves the head.

    Attributes:
        namespace: Empty for the graph itself; another one leaves `head_id` alone.
        head_id: The checkpoint that becomes the newest.
        expected: What must be the newest until then.
        anywhere: Whatever is the newest.
        revives: A deleted thread begins anew.
        step: The nodes that run next.
    """

    namespace: str
    head_id: str
    expected: str | None
    anywhere: bool
    revives: bool
    run_state: str
    step: Sequence[str]
    size: int


class Published(NamedTuple):
    """The number of a publish and the thread's epoch."""

    version_id: int
    epoch: int


def read(connection: Connection, tables: Tables, thread_id: str) -> Head | None:
    """Give a thread's head row."""
    row = connection.execute(_head(tables), {"thread": thread_id}).first()
    return None if row is None else _head_of(row)


def publish_fence(connection: Connection, tables: Tables, thread_id: str, fence: int) -> int:
    """
    Make known that a run loads the thread: from now on nothing of an earlier run takes effect.

    Safe to repeat.

    Returns:
        The thread's epoch.

    Raises:
        LeaseLost: A later run has done so.
    """
    begin(connection, tables, thread_id)
    connection.execute(_raise_fence(tables), {"thread": thread_id, "own_fence": fence})
    found = connection.execute(_head(tables), {"thread": thread_id}).one()
    if found.fence > fence:
        raise LeaseLost(thread_id, fence)
    return int(found.epoch)


def begin(connection: Connection, tables: Tables, thread_id: str) -> bool:
    """Make the head row of a thread that has none; says whether it did."""
    values = {"thread_id": thread_id, "version_id": 0, "epoch": 0, "fence": 0, "deleted": 0}
    return insert_missing(connection, tables.checkpoint_head, {**values, "run_state": "idle", "state_bytes": 0})


def advance(connection: Connection, tables: Tables, claim: Claim, move: Advance) -> Published:
    """
    Move the head in one conditional UPDATE, and hold the row until the transaction ends.

    Raises:
        CheckpointConflict: Another checkpoint is the newest.
        LeaseLost: A later run has the thread.
        ThreadBusy: Somebody runs the thread, and this is no run of it.
        ThreadDeleted: The thread was deleted meanwhile.
    """
    found = _try(connection, tables, claim, move)
    if found is None:
        # Of a new thread somebody else may just have made the row.
        begin(connection, tables, claim.thread_id)
        found = _try(connection, tables, claim, move)
    if found is None:
        raise _refusal(connection, tables, claim, move)
    return found


def hold(connection: Connection, tables: Tables, claim: Claim, checkpoint_id: str, *, alone: bool = False) -> Head:
    """
    Check the claim and hold the head row until the transaction ends; must come last.

    The row is locked for sharing, so that a run that stands still keeps nobody from sharing it too.

    Args:
        checkpoint_id: What is written to. It may not be there yet, also in a thread that begins anew after it was
            deleted: then only what is known to come too late is refused.
        alone: It is going to be changed.

    Raises:
        LeaseLost: A later run has the thread.
        ThreadBusy: Somebody runs the thread, and this is no run of it.
        ThreadDeleted: The thread was deleted.
    """
    statement = _held_alone(tables) if alone else _held(tables)
    row = connection.execute(statement, {"thread": claim.thread_id}).first()
    if row is None:
        begin(connection, tables, claim.thread_id)
        row = connection.execute(statement, {"thread": claim.thread_id}).one()
    head = _head_of(row)
    error = _refused(connection, tables, claim, head, revives=checkpoint_id != head.buried_id)
    if error is not None:
        raise error
    return head


def mark(connection: Connection, tables: Tables, thread_id: str, checkpoint_id: str, indexes: Sequence[int]) -> None:
    """Note in the head row, which must be held, what special writes of its checkpoint say."""
    found = [_STATE_OF[index] for index in (INTERRUPT_INDEX, ERROR_INDEX, RESUME_INDEX) if index in indexes]
    if found:
        head = tables.checkpoint_head
        here = and_(head.c.thread_id == thread_id, head.c.head_id == checkpoint_id)
        connection.execute(update(head).where(here).values(run_state=found[0]))


def bury(connection: Connection, tables: Tables, thread_id: str) -> bool:
    """
    Leave a tombstone with a new epoch in the place of the head; says whether there was one.

    It keeps the name of the checkpoint that was the newest: pending writes that name it come too late.
    """
    head = tables.checkpoint_head
    gone = {"deleted": 1, "run_state": "idle", "step": None, "state_bytes": 0, "status": None}
    statement = update(head).where(head.c.thread_id == thread_id)
    counts = {"epoch": head.c.epoch + 1, "version_id": head.c.version_id + 1}
    return connection.execute(statement.values(**gone, **counts)).rowcount == 1


def lock(connection: Connection, tables: Tables, thread_id: str) -> Head | None:
    """Hold the head row alone until the transaction ends, for work on a thread's stored checkpoints."""
    row = connection.execute(_held_alone(tables), {"thread": thread_id}).first()
    return None if row is None else _head_of(row)


def point(connection: Connection, tables: Tables, thread_id: str, head_id: str | None, size: int) -> None:
    """Let another checkpoint be the newest, or none, after stored ones were removed."""
    head = tables.checkpoint_head
    connection.execute(
        update(head)
        .where(head.c.thread_id == thread_id)
        .values(head_id=head_id, state_bytes=size, version_id=head.c.version_id + 1, run_state="idle", step=None)
    )


def _try(connection: Connection, tables: Tables, claim: Claim, move: Advance) -> Published | None:
    statement = _advance(
        tables,
        cast("Hashable", dialect_of(connection)),
        root=not move.namespace,
        has_expected=move.expected is not None,
        anywhere=move.anywhere,
        revives=move.revives,
        has_fence=claim.fence is not None,
        has_epoch=claim.epoch is not None,
        watches=claim.fence is None and claim.watches_lease,
    )
    parameters = {
        "thread": claim.thread_id,
        "new_head": move.head_id,
        "expected": move.expected,
        "own_fence": claim.fence or 0,
        "own_epoch": claim.epoch or 0,
        "new_state": move.run_state,
        "new_step": list(move.step),
        "new_size": move.size,
    }
    if connection.dialect.update_returning:
        row = connection.execute(_returning(tables, statement), parameters).first()
    elif connection.execute(statement, parameters).rowcount == 0:
        row = None
    else:
        row = connection.execute(_head(tables), {"thread": claim.thread_id}).one()
    return None if row is None else Published(int(row.version_id), int(row.epoch))


@cache
def _returning(tables: Tables, statement: Update) -> Any:
    return statement.returning(tables.checkpoint_head.c.version_id, tables.checkpoint_head.c.epoch)


@cache
def _advance(  # noqa: PLR0913 - one flag for each condition
    tables: Tables,
    dialect: Dialect,
    *,
    root: bool,
    has_expected: bool,
    anywhere: bool,
    revives: bool,
    has_fence: bool,
    has_epoch: bool,
    watches: bool,
) -> Update:
    """Build the UPDATE for the conditions that hold; there are few combinations, and each is built once."""
    head = tables.checkpoint_head
    conditions: list[ColumnElement[bool]] = [head.c.thread_id == bindparam("thread")]
    if root and not anywhere:
        none = or_(head.c.head_id.is_(None), head.c.deleted == 1)
        conditions.append(head.c.head_id == bindparam("expected") if has_expected else none)
    if not revives and not has_epoch:
        conditions.append(head.c.deleted == 0)
    if has_fence:
        conditions.append(head.c.fence <= bindparam("own_fence"))
    if has_epoch:
        conditions.append(head.c.epoch == bindparam("own_epoch"))
    if watches:
        conditions.append(~_leased(tables, dialect.clock()))
    values: dict[str, Any] = {
        "version_id": head.c.version_id + 1,
        "deleted": 0,
        "checkpoint_at": dialect.clock(),
        **({"fence": bindparam("own_fence")} if has_fence else {}),
        **(_new_head(tables) if root else {}),
    }
    return update(head).where(*conditions).values(**values)


def _new_head(tables: Tables) -> dict[str, Any]:
    return {
        "head_id": bindparam("new_head", type_=KeyText()),
        "run_state": _state_of_writes(tables),
        "step": bindparam("new_step", type_=tables.checkpoint_head.c.step.type),
        "state_bytes": bindparam("new_size", type_=BigInteger),
    }


def _state_of_writes(tables: Tables) -> ColumnElement[str]:
    """Give the run state; special writes can be there before their checkpoint."""
    write = tables.checkpoint_write

    def has(index: int) -> ColumnElement[bool]:
        return exists(select(literal(1)).select_from(write)).where(
            write.c.thread_id == bindparam("thread"),
            write.c.checkpoint_ns == "",
            write.c.checkpoint_id == bindparam("new_head"),
            write.c.idx == index,
        )

    return case(
        (has(INTERRUPT_INDEX), literal("interrupted", KeyText(16))),
        (has(ERROR_INDEX), literal("failed", KeyText(16))),
        else_=bindparam("new_state", type_=KeyText(16)),
    )


def _refusal(connection: Connection, tables: Tables, claim: Claim, move: Advance) -> Exception:
    head = read(connection, tables, claim.thread_id)
    if head is None:
        return CheckpointConflict(claim.thread_id, move.namespace, move.expected, None)
    error = _refused(connection, tables, claim, head, revives=move.revives)
    return error or CheckpointConflict(claim.thread_id, move.namespace, move.expected, head.head_id)


def _refused(connection: Connection, tables: Tables, claim: Claim, head: Head, *, revives: bool) -> Exception | None:
    if claim.epoch != head.epoch if claim.epoch is not None else head.deleted and not revives:
        return ThreadDeleted(claim.thread_id)
    if claim.fence is not None:
        return LeaseLost(claim.thread_id, claim.fence) if head.fence > claim.fence else None
    if claim.watches_lease:
        busy = holder(connection, tables, claim.thread_id)
        if busy is not None:
            return ThreadBusy(claim.thread_id, busy)
    return None


def holder(connection: Connection, tables: Tables, thread_id: str) -> str | None:
    """Name the run that has a thread's lease, if somebody has."""
    lease = tables.thread_lease
    valid = leases.is_valid(tables, dialect_of(connection).clock())
    return connection.scalar(select(lease.c.run_id).where(lease.c.thread_id == thread_id, valid))


def _leased(tables: Tables, clock: ColumnElement[int]) -> ColumnElement[bool]:
    lease = tables.thread_lease
    of_thread = (lease.c.thread_id == bindparam("thread"), leases.is_valid(tables, clock))
    return exists(select(literal(1)).select_from(lease)).where(*of_thread)


@cache
def _raise_fence(tables: Tables) -> Update:
    head = tables.checkpoint_head
    lower = and_(head.c.thread_id == bindparam("thread"), head.c.fence < bindparam("own_fence"))
    return update(head).where(lower).values(fence=bindparam("own_fence", type_=BigInteger))


@cache
def _head(tables: Tables) -> Any:
    head = tables.checkpoint_head
    columns = (head.c.head_id, head.c.version_id, head.c.epoch, head.c.fence, head.c.deleted)
    return select(*columns).where(head.c.thread_id == bindparam("thread"))


@cache
def _held(tables: Tables) -> Any:
    return _head(tables).with_for_update(read=True)


@cache
def _held_alone(tables: Tables) -> Any:
    return _head(tables).with_for_update()


def newest_in(tables: Tables, namespace: ColumnElement[Any]) -> ScalarSelect[Any]:
    """Build the number of the newest checkpoint in a namespace of the thread of parameter `thread`."""
    row = tables.checkpoint
    inside = (row.c.thread_id == bindparam("thread"), row.c.checkpoint_ns == namespace)
    return select(func.max(row.c.seq)).where(*inside).scalar_subquery()


def _head_of(row: Any) -> Head:
    deleted = bool(row.deleted)
    found = (None, row.head_id) if deleted else (row.head_id, None)
    return Head(found[0], int(row.version_id), int(row.epoch), int(row.fence), deleted, found[1])
