"""Look up what was changed, and what somebody tried to change."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from abreast.errors import InvalidInput
from abreast.model.event import Actor
from abreast.operations.attempts import Wanted
from abreast.sql.values import check_id
from abreast.workspace_log.steps import check_limit

if TYPE_CHECKING:
    from abreast.database import Database
    from abreast.model.attempt import Attempt
    from abreast.model.event import Event
    from abreast.workspace_log.steps import Steps


class History:
    """What a log is asked about the past."""

    database: Database
    steps: Steps

    def changes(
        self,
        workspace_id: str,
        *,
        after: int = 0,
        limit: int = 100,
        entity: object = None,
        key: object = None,
    ) -> list[Event]:
        """
        List numbered events after a revision, in order.

        Args:
            after: Revision to start behind, exclusive.
            limit: Most events, 1 to 10,000.
            entity: Only of this entity.
            key: Only of this row; needs `entity`.

        Raises:
            UnknownEntity: The log was not given this entity.
        """
        return self.database.read_or_prepare(
            self.steps.list_changes,
            self.steps.number_for_changes,
            self.steps.filter(workspace_id, after=after, limit=limit, entity=entity, key=key),
        )

    async def achanges(
        self,
        workspace_id: str,
        *,
        after: int = 0,
        limit: int = 100,
        entity: object = None,
        key: object = None,
    ) -> list[Event]:
        """Async twin of `changes`."""
        return await self.database.aread_or_prepare(
            self.steps.list_changes,
            self.steps.number_for_changes,
            self.steps.filter(workspace_id, after=after, limit=limit, entity=entity, key=key),
        )

    def attempts(
        self, workspace_id: str, *, actor: Actor | None = None, since: datetime | None = None, limit: int = 100
    ) -> list[Attempt]:
        """
        List what was written and what was refused, newest first, as of one moment.

        A write that changed nothing is not among them. A refusal is recorded after its own transaction was rolled
        back: it is missing where the process died in between, where recording it failed (a warning in the log says
        so), and where the block was written in the caller's transaction.

        Args:
            actor: Only of this actor, for whomever it acted, or with `on_behalf_of` for that person alone.
            since: Only from this time on, inclusive.
            limit: Most attempts, 1 to 10,000.

        Raises:
            InvalidInput: An argument is of another type or out of range, or the time has no zone.
            DatabaseUnavailable: The database is away or stayed busy.

        Example:
            >>> agent = Actor.agent("assistant", on_behalf_of="u1")
            >>> [(attempt.result, attempt.entity_id) for attempt in log.attempts("w1", actor=agent)]
            []
        """
        return self.database.read(self.steps.list_attempts, _wanted(workspace_id, actor, since, limit))

    async def aattempts(
        self, workspace_id: str, *, actor: Actor | None = None, since: datetime | None = None, limit: int = 100
    ) -> list[Attempt]:
        """Async twin of `attempts`."""
        return await self.database.aread(self.steps.list_attempts, _wanted(workspace_id, actor, since, limit))


def _wanted(workspace_id: str, actor: object, since: object, limit: int) -> Wanted:
    if not (actor is None or isinstance(actor, Actor)):
        raise InvalidInput("actor", f"is {type(actor).__name__}, no Actor", 'pass Actor.agent("…"), or None for all')
    if not (since is None or isinstance(since, datetime)):
        raise InvalidInput("since", f"is {type(since).__name__}, no datetime", "pass an aware datetime")
    if since is not None and since.tzinfo is None:
        raise InvalidInput("since", "has no time zone", "pass an aware datetime, as datetime.now(UTC)")
    check_limit(limit)
    micros = None if since is None else round(since.timestamp() * 1_000_000)
    return Wanted(check_id("workspace_id", workspace_id), actor, micros, limit)
