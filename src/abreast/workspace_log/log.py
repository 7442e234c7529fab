"""`WorkspaceLog`: what was changed, what each conversation must still be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abreast.errors import InvalidInput
from abreast.model.batch import LIMIT, MAX_BYTES, MAX_RUNS, Batch, Extras
from abreast.sql.mapping import Catalog
from abreast.sql.values import check_id
from abreast.workspace_log.arguments import check_parts, check_within, cursor_of, origin_of, own_lease
from abreast.workspace_log.history import History
from abreast.workspace_log.steps import Steps, batch_request, check_revision
from abreast.workspace_log.write import AsyncWrite, Delivery, Write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from abreast.database import Database
    from abreast.model.cursor import Cursor
    from abreast.model.entity import Entity, Snapshot
    from abreast.model.event import Actor
    from abreast.operations.leases import Lease
    from abreast.workspace_log.write import Numbering, Transaction


class WorkspaceLog(History):
    """
    Record every change of a workspace once, and give each thread the changes it has not processed.

    Every method has an async twin, `a` + name, with the same arguments and guarantees. One object serves any
    number of threads of execution and event loops.

    Args:
        database: Where the product's tables and abreast's tables are, in one database.
        entities: The product's rows that abreast records and shows.

    Raises:
        InvalidEntity: An entity is none or does not fit its table, or two have one name.
        InvalidInput: The database is none, or the entities are no list.

    Example:
        >>> log = WorkspaceLog(database, entities=[Entity(move_table, expose=["move_in_date", "stage"])])
        >>> with log.write("w1", actor=Actor.user("u1")) as write:
        ...     write.insert("move", {"id": "m1", "move_in_date": "2026-09-28", "stage": "booked"})
        >>> write.results[0].version
        1
    """

    def __init__(self, database: Database, entities: Iterable[Entity]) -> None:
        check_parts(database, entities)
        self.database = database
        self.entities = tuple(entities)
        self.steps = Steps(database.tables, Catalog(self.entities))

    def write(
        self,
        workspace_id: str,
        *,
        actor: Actor,
        mutation_id: str | None = None,
        source_thread_id: str | None = None,
        run_id: str | None = None,
        number: Numbering = "now",
        within: Transaction = None,
        lease: Lease | None = None,
    ) -> Write:
        """
        Begin a block of changes of product rows; it is sent when the block ends.

        Rows and events are stored together or not at all. In a transaction of its own the write is repeated
        when the database rolls it back for a passing reason, and numbered at its end. In the caller's
        transaction it is only recorded: it takes effect with the caller's commit and is numbered by whoever
        reads next.

        Args:
            actor: Who makes the changes.
            mutation_id: Idempotency key within the workspace: the block takes effect once, a repetition gives
                the recorded results, another payload under the same id is an error.
            source_thread_id: The conversation that caused it.
            run_id: The run that caused it.
            number: `"later"` leaves numbering to the next reader, for workspaces with very many writes.
            within: The caller's `Connection` or `Session` with its transaction; for `awrite` an
                `AsyncConnection` or `AsyncSession`.
            lease: The lease of the run that writes, checked in the last statement: once a later run has taken the
                thread over, nothing is stored. Only in a transaction of its own.

        Raises:
            InvalidInput: An id cannot be stored, or `within` is no transaction of this kind.
            EntityNotFound: A row is not in the workspace. Nothing was stored.
            StaleWrite: A row changed after the expected version. Nothing was stored.
            MutationReused: The mutation id belongs to another payload. Nothing was stored.
            WriteRefused: The database refuses a row. Nothing was stored.
            LeaseLost: A later run has taken the thread over. Nothing was stored.
            DatabaseUnavailable: The database is away or stayed busy.

        Example:
            >>> with log.write("w1", actor=Actor.user("u1")) as write:
            ...     write.update("move", "m1", {"move_in_date": "2026-09-30"}, expected_version=1)
            >>> write.results[0].revision
            2
        """
        check_within(within, sync=True)
        origin = origin_of(workspace_id, actor, mutation_id, source_thread_id, run_id, own_lease(lease, within))
        return Write(origin, self._delivery(number, within))

    def awrite(
        self,
        workspace_id: str,
        *,
        actor: Actor,
        mutation_id: str | None = None,
        source_thread_id: str | None = None,
        run_id: str | None = None,
        number: Numbering = "now",
        within: Transaction = None,
        lease: Lease | None = None,
    ) -> AsyncWrite:
        """Async twin of `write`, for `async with`."""
        check_within(within, sync=False)
        origin = origin_of(workspace_id, actor, mutation_id, source_thread_id, run_id, own_lease(lease, within))
        return AsyncWrite(origin, self._delivery(number, within))

    def open_workspace(self, workspace_id: str) -> None:
        """Begin the log of a workspace that has no row yet; safe to repeat."""
        self.database.run(self.steps.open_workspace, check_id("workspace_id", workspace_id))

    async def aopen_workspace(self, workspace_id: str) -> None:
        """Async twin of `open_workspace`."""
        await self.database.arun(self.steps.open_workspace, check_id("workspace_id", workspace_id))

    def open_thread(self, workspace_id: str, thread_id: str, *, scope: str = "") -> Cursor:
        """
        Bind a conversation to a workspace and set its cursor to HEAD: what happened before is not news to it.

        Safe to repeat: a cursor that is there stays where it is.

        Args:
            scope: Tells several readers of one thread apart, each with a cursor of its own.

        Raises:
            WorkspaceNotFound: The workspace has neither a row nor a log.
            ThreadBoundElsewhere: The thread belongs to another workspace.
        """
        self.number(workspace_id)
        return self.database.run(self.steps.open_thread, batch_request(workspace_id, thread_id, scope))

    async def aopen_thread(self, workspace_id: str, thread_id: str, *, scope: str = "") -> Cursor:
        """Async twin of `open_thread`."""
        await self.anumber(workspace_id)
        return await self.database.arun(self.steps.open_thread, batch_request(workspace_id, thread_id, scope))

    def read_batch(  # noqa: PLR0913 - each bound has a name of its own
        self,
        workspace_id: str,
        thread_id: str,
        *,
        scope: str = "",
        checkpoint_cursor: Cursor | None = None,
        has_history: bool = False,
        viewer: object = None,
        limit: int = LIMIT,
        max_bytes: int = MAX_BYTES,
        max_runs: int = MAX_RUNS,
        extras: Extras | None = None,
    ) -> Batch:
        """
        Read the current rows and the changes this conversation has not processed, as of one moment.

        Moves nothing: until `confirm`, the same changes are given again. A change that committed is in the
        rows, and in this batch or a later one, never in none.

        Args:
            checkpoint_cursor: The cursor held in the thread's graph state; reading starts at the lower one.
            has_history: The thread already holds messages. Without any cursor it then gets a reset instead of
                being taken for new.
            viewer: Handed to the entities' `where` and `visible`.
            limit: Most lines.
            max_bytes: Most bytes of values in the lines.
            max_runs: Runs over which a longer backlog is spread before its rest is given as counts.
            extras: `(connection, workspace_id, viewer)` to more values by name, read in the same snapshot.

        Raises:
            WorkspaceNotFound: The workspace has neither a row nor a log.
            ThreadBoundElsewhere: The thread belongs to another workspace.
            ReplicaBehind: The database has not reached the cursor.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        request = batch_request(
            workspace_id,
            thread_id,
            scope,
            checkpoint_cursor,
            has_history=has_history,
            viewer=viewer,
            limit=limit,
            max_bytes=max_bytes,
            max_runs=max_runs,
            extras=extras,
        )
        return self.database.read_or_prepare(self.steps.read_batch, self.steps.prepare, request)

    async def aread_batch(  # noqa: PLR0913 - as above
        self,
        workspace_id: str,
        thread_id: str,
        *,
        scope: str = "",
        checkpoint_cursor: Cursor | None = None,
        has_history: bool = False,
        viewer: object = None,
        limit: int = LIMIT,
        max_bytes: int = MAX_BYTES,
        max_runs: int = MAX_RUNS,
        extras: Extras | None = None,
    ) -> Batch:
        """Async twin of `read_batch`."""
        request = batch_request(
            workspace_id,
            thread_id,
            scope,
            checkpoint_cursor,
            has_history=has_history,
            viewer=viewer,
            limit=limit,
            max_bytes=max_bytes,
            max_runs=max_runs,
            extras=extras,
        )
        return await self.database.aread_or_prepare(self.steps.read_batch, self.steps.prepare, request)

    def confirm(self, delivered: Batch | Cursor) -> bool:
        """
        Move a conversation's cursor to what its run was given; call it only after the run has succeeded.

        Only forward; safe to repeat and to call late.

        Args:
            delivered: The batch, or its `cursor_after`.

        Returns:
            Whether the cursor moved.

        Raises:
            CursorRefused: The log was reset meanwhile, or never delivered this.
            ThreadBoundElsewhere: The thread belongs to another workspace.
        """
        return self.database.run(self.steps.confirm, cursor_of(delivered))

    async def aconfirm(self, delivered: Batch | Cursor) -> bool:
        """Async twin of `confirm`."""
        return await self.database.arun(self.steps.confirm, cursor_of(delivered))

    def snapshot(self, workspace_id: str, *, viewer: object = None) -> Snapshot:
        """Read the current rows and HEAD of one moment; no thread is involved."""
        return self.database.read_or_prepare(
            self.steps.read_snapshot,
            self.steps.number_for_snapshot,
            (check_id("workspace_id", workspace_id), viewer),
        )

    async def asnapshot(self, workspace_id: str, *, viewer: object = None) -> Snapshot:
        """Async twin of `snapshot`."""
        return await self.database.aread_or_prepare(
            self.steps.read_snapshot,
            self.steps.number_for_snapshot,
            (check_id("workspace_id", workspace_id), viewer),
        )

    def number(self, workspace_id: str) -> None:
        """Give waiting events their revisions now; every reader does so by itself."""
        self.database.run_while(self.steps.number, check_id("workspace_id", workspace_id))

    async def anumber(self, workspace_id: str) -> None:
        """Async twin of `number`."""
        await self.database.arun_while(self.steps.number, check_id("workspace_id", workspace_id))

    def forget_before(self, workspace_id: str, revision: int) -> int:
        """
        Delete the events before a revision and give the oldest revision kept.

        Threads whose cursor is below it are told that older changes are no longer listed. The newest event
        always stays.

        Raises:
            WorkspaceNotFound: The workspace has neither a row nor a log.
        """
        place, floor = check_id("workspace_id", workspace_id), check_revision("revision", revision)
        return self.database.run(self.steps.forget_before, place, floor)

    async def aforget_before(self, workspace_id: str, revision: int) -> int:
        """Async twin of `forget_before`."""
        place, floor = check_id("workspace_id", workspace_id), check_revision("revision", revision)
        return await self.database.arun(self.steps.forget_before, place, floor)

    def renew_epoch(self, workspace_id: str) -> None:
        """
        Declare the log another one, after its database was restored from a backup.

        Every thread is told once that older changes cannot be listed, and given the current rows.

        Raises:
            WorkspaceNotFound: The workspace has neither a row nor a log.
        """
        self.database.run(self.steps.renew_epoch, check_id("workspace_id", workspace_id))

    async def arenew_epoch(self, workspace_id: str) -> None:
        """Async twin of `renew_epoch`."""
        await self.database.arun(self.steps.renew_epoch, check_id("workspace_id", workspace_id))

    def erase(self, workspace_id: str, entity: object, key: object) -> int:
        """
        Delete the values that a row's events hold; the events stay, by name only. Gives how many there are.

        Raises:
            UnknownEntity: The log was not given this entity.
        """
        return self.database.run(self.steps.erase, self.steps.row(workspace_id, entity, key))

    async def aerase(self, workspace_id: str, entity: object, key: object) -> int:
        """Async twin of `erase`."""
        return await self.database.arun(self.steps.erase, self.steps.row(workspace_id, entity, key))

    def _delivery(self, number: Numbering, within: Transaction) -> Delivery:
        if number not in ("now", "later"):
            raise InvalidInput("number", "is unknown", 'use "now" or "later"')
        return Delivery(self.database, self.steps, within, number)
