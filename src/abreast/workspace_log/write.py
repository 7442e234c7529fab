"""A block of changes that is sent when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

from abreast.errors import InvalidInput
from abreast.model.write import Change, ExpectedVersion, Merge, WriteRequest, WriteResult
from abreast.operations import leases, number, plan, writes
from abreast.sql.values import check_id
from abreast.workspace_log.refusals import REFUSALS, akeep, change_at_fault, keep, refused_write, result_of

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from abreast.database import Database
    from abreast.model.attempt import Attempt
    from abreast.model.event import Actor, Operation
    from abreast.operations.leases import Lease
    from abreast.operations.plan import WriteContext
    from abreast.workspace_log.steps import Steps

Numbering = Literal["now", "later"]
Transaction = Connection | Session | AsyncConnection | AsyncSession | None


@dataclass(frozen=True)
class Origin:
    """Who writes, and from where."""

    workspace_id: str
    actor: Actor
    mutation_id: str | None
    source_thread_id: str | None
    run_id: str | None
    lease: Lease | None = None


@dataclass(frozen=True)
class Delivery:
    """
    How a block is sent.

    Attributes:
        within: The caller's transaction; None for one of our own.
    """

    database: Database
    steps: Steps
    within: Transaction
    numbering: Numbering


class _Block:
    """
    Changes that take effect together when the block ends, or not at all.

    An exception inside the block drops them. After the block `results` tells what became of each.
    """

    _way_in = "with log.write(...) as write"

    def __init__(self, origin: Origin, delivery: Delivery) -> None:
        self._origin = origin
        self._delivery = delivery
        self._changes: list[Change] = []
        self._results: tuple[WriteResult, ...] | None = None
        self._entered = self._ended = self._sending = False
        self._mistake: tuple[BaseException, Change] | None = None

    @property
    def results(self) -> tuple[WriteResult, ...]:
        """
        What became of each change, in the order of the calls.

        Raises:
            InvalidInput: The block has not ended, or ended with an error.
        """
        if self._results is None:
            raise InvalidInput("results", "the block has not been sent", "read it after the with statement")
        return self._results

    @property
    def replayed(self) -> bool:
        """Whether the mutation had taken effect before, so that nothing was written now."""
        return any(result.replayed for result in self.results)

    def insert(self, entity: object, fields: Mapping[str, Any], *, workspace_id: str | None = None) -> None:
        """
        Insert a row with version 1, or the version after its last one if it existed before.

        Args:
            entity: Mapped class, `Table`, or name of a registered entity.
            fields: Values by field name, native or as JSON. The workspace column is filled in.
            workspace_id: Another workspace than the block's.

        Raises:
            UnknownEntity: The log was not given this entity.
            UnknownField: The entity has no such field.
            InvalidInput: A value does not fit its column, or the block was not entered by `with`.
        """
        self._add("insert", entity, None, fields, None, None, workspace_id, None)

    def update(
        self,
        entity: object,
        key: object,
        fields: Mapping[str, Any],
        *,
        expected_version: ExpectedVersion = None,
        merge: Merge = None,
        workspace_id: str | None = None,
        to_workspace: str | None = None,
    ) -> None:
        """
        Change fields of one row; fields left out stay as they are.

        When the block ends the row has version `expected_version` + 1, or `StaleWrite` is raised and nothing
        is stored. If no field gets another value, there is no event and no new version.

        Args:
            entity: Mapped class, `Table`, or name of a registered entity.
            key: The row's key; a tuple or mapping for composite keys.
            expected_version: Version the caller last read; `"any"` overwrites whatever is there.
            merge: `"fields"` lets the change pass although the row has moved on, if none of these fields was
                changed since `expected_version`.
            workspace_id: Another workspace than the block's.
            to_workspace: Workspace the row is to be in afterwards, if the change moves it.

        Raises:
            UnknownEntity: The log was not given this entity.
            UnknownField: The entity has no such field.
            InvalidInput: A value does not fit its column, the key does not fit the entity, or the block was not
                entered by `with`.
            VersionRequired: `expected_version` was left out.
        """
        self._add("update", entity, key, fields, expected_version, merge, workspace_id, to_workspace)

    def delete(
        self,
        entity: object,
        key: object,
        *,
        expected_version: ExpectedVersion = None,
        workspace_id: str | None = None,
    ) -> None:
        """
        Delete one row.

        Args:
            entity: Mapped class, `Table`, or name of a registered entity.
            key: The row's key; a tuple or mapping for composite keys.
            expected_version: Version the caller last read; `"any"` deletes whatever is there.
            workspace_id: Another workspace than the block's.

        Raises:
            UnknownEntity: The log was not given this entity.
            InvalidInput: The key does not fit the entity, or the block was not entered by `with`.
            VersionRequired: `expected_version` was left out.
        """
        self._add("delete", entity, key, {}, expected_version, None, workspace_id, None)

    def _add(
        self,
        operation: Operation,
        entity: object,
        key: object,
        fields: Mapping[str, Any],
        expected_version: ExpectedVersion,
        merge: Merge,
        workspace_id: str | None,
        to_workspace: str | None,
    ) -> None:
        self._check_entered()
        if not isinstance(fields, Mapping):
            raise InvalidInput("fields", "is no mapping", "pass values by field name")
        place = self._origin.workspace_id if workspace_id is None else check_id("workspace_id", workspace_id)
        change = Change(
            operation=operation,
            workspace_id=place,
            entity_type=self._delivery.steps.catalog.find(entity).name,
            key=key,
            fields=dict(fields),
            expected_version=expected_version,
            merge=merge,
            to_workspace=place if to_workspace is None else check_id("to_workspace", to_workspace),
        )
        try:
            plan.check(self._delivery.steps.catalog, change)
        except REFUSALS as error:
            self._mistake = error, change
            raise
        self._changes.append(change)

    def _check_entered(self) -> None:
        self._check_open()
        if not self._entered:
            # Nothing would be sent: that happens at the end of the block.
            raise InvalidInput("write", "the block was not entered", f"enter it: {self._way_in}")

    def _check_open(self) -> None:
        if self._ended:
            raise InvalidInput("write", "the block has ended", f"begin another one: {self._way_in}")

    def _enter(self) -> None:
        self._check_open()
        if self._entered:
            raise InvalidInput("write", "the block was entered before", f"begin another one: {self._way_in}")
        self._entered = True

    def _request(self) -> WriteRequest:
        origin = self._origin
        return WriteRequest(
            workspace_id=origin.workspace_id,
            actor=origin.actor,
            mutation_id=origin.mutation_id,
            source_thread_id=origin.source_thread_id,
            run_id=origin.run_id,
            changes=tuple(self._changes),
        )

    def _record(self, connection: Connection) -> tuple[WriteResult, ...]:
        return writes.write(connection, self._delivery.steps.write_context(connection), self._request())

    def _record_and_number(self, connection: Connection) -> tuple[tuple[WriteResult, ...], WriteContext]:
        context = self._delivery.steps.write_context(connection)
        request = self._request()
        results = writes.write(connection, context, request)
        revisions: dict[str, int] = {}
        if self._delivery.numbering == "now" and any(result.event_id for result in results):
            for workspace_id in request.workspaces:
                numbered = number.number(connection, context.tables, workspace_id, new_epoch=context.new_epoch)
                revisions |= numbered.revisions
        if self._origin.lease is not None:
            leases.check_fence(connection, context.tables, self._origin.lease)
        known = (replace(result, revision=revisions.get(result.event_id or "", result.revision)) for result in results)
        return tuple(known), context

    def _finish(self, sent: tuple[tuple[WriteResult, ...], WriteContext]) -> None:
        self._results, context = sent
        self._delivery.steps.sent(context)

    def _refused(self, error: BaseException) -> Attempt | None:
        """
        Tell of a refusal that is to be written down; None for what is none.

        In the caller's transaction the caller says what becomes of it.
        """
        mistake = self._mistake if self._mistake is not None and self._mistake[0] is error else None
        if self._delivery.within is not None or not (isinstance(error, REFUSALS) and (mistake or self._sending)):
            return None
        steps = self._delivery.steps
        change = mistake[1] if mistake else change_at_fault(steps, self._changes, error)
        return refused_write(steps, self._origin, result_of(error), change)

    def _refresh(self, session: Session) -> None:
        """Let the session's objects show what was written past them; those of deleted rows are expired."""
        by_name = self._delivery.steps.catalog.by_name
        written = {
            (result.entity_type, result.entity_id): result.operation for result in self.results if result.event_id
        }
        entities = [by_name[name] for name in {name for name, _ in written}]
        for instance in list(session.identity_map.values()):
            for entity in entities:
                operation = written.get((entity.name, entity.instance_id(instance) or ""))
                if operation is not None:
                    session.expire(instance)
                    if operation != "delete":
                        session.refresh(instance)


class Write(_Block):
    """Changes that take effect together when the `with` block ends, or not at all."""

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended = True
        try:
            if kind is None:
                self._sending = True
                self._send()
        except REFUSALS as refused:
            self._keep(refused)
            raise
        if error is not None:
            self._keep(error)

    def _keep(self, error: BaseException) -> None:
        refused = self._refused(error)
        if refused is not None:
            keep(self._delivery.database, self._delivery.steps, refused)

    def _send(self) -> None:
        database, within = self._delivery.database, self._delivery.within
        if within is None:
            run = database.run_once if self._origin.mutation_id is None else database.run
            self._finish(run(self._record_and_number))
            return
        assert isinstance(within, (Connection, Session))
        self._results = database.within(within, self._record)
        if isinstance(within, Session):
            self._refresh(within)


class AsyncWrite(_Block):
    """Changes that take effect together when the `async with` block ends, or not at all."""

    _way_in = "async with log.awrite(...) as write"

    async def __aenter__(self) -> Self:
        self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended = True
        try:
            if kind is None:
                self._sending = True
                await self._send()
        except REFUSALS as refused:
            await self._keep(refused)
            raise
        if error is not None:
            await self._keep(error)

    async def _keep(self, error: BaseException) -> None:
        refused = self._refused(error)
        if refused is not None:
            await akeep(self._delivery.database, self._delivery.steps, refused)

    async def _send(self) -> None:
        database, within = self._delivery.database, self._delivery.within
        if within is None:
            run = database.arun_once if self._origin.mutation_id is None else database.arun
            self._finish(await run(self._record_and_number))
            return
        assert isinstance(within, (AsyncConnection, AsyncSession))
        self._results = await database.awithin(within, self._record)
        if isinstance(within, AsyncSession):
            await within.run_sync(self._refresh)
