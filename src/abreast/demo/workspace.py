"""The workspace of the story: its database, its log, and what screens and jobs do to it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlalchemy import create_engine, func, make_url, select

from abreast.database import Database
from abreast.model.entity import Entity
from abreast.model.event import Actor
from abreast.operations import leases
from abreast.sql.dialects import dialect_named
from abreast.workspace_log import WorkspaceLog

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sqlalchemy import Connection

    from abreast.demo.words import Words
    from abreast.model.write import WriteResult
    from abreast.sql.tables import Tables

PREFIX = "demo_"
MOVE_ID, TASK_ID, SECOND_TASK_ID, THIRD_TASK_ID = "m1", "c1", "c2", "c3"
IMPORTED = 76
_LISTED = 5

FIRST_PERSON, SECOND_PERSON = Actor.user("u1"), Actor.user("u2")
IMPORT, NIGHTLY = Actor.system("template-import"), Actor.system("nightly")
AGENT_NAME = "move-agent"


class Workspace:
    """
    One throw-away workspace and who changes it, other than the agents.

    Attributes:
        id: The workspace's id; another one each time, where none is given.
        url: Its database.
        log: Its log.
    """

    def __init__(self, url: str, words: Words, workspace_id: str | None = None) -> None:
        self.id = workspace_id or f"demo-{uuid4().hex[:8]}"
        self.words = words
        self.url = url
        self.database = Database.open(url, prefix=PREFIX)
        self.log = WorkspaceLog(
            self.database,
            entities=[
                Entity(
                    words.move,
                    expose=[words.date_field, words.stage_field],
                    label=words.move_label,
                    labels=_known(words, words.date_field, words.stage_field),
                ),
                Entity(
                    words.item,
                    expose=[words.title_field, words.done_field],
                    title=words.title_field,
                    label=words.item_label,
                    labels=_known(words, words.title_field, words.done_field),
                    order_by=["position"],
                    limit=_LISTED,
                ),
            ],
        )

    def begin(self) -> None:
        """Make the tables and the first rows."""
        words = self.words
        self.database.upgrade()
        for source in (words.move, words.item):
            self.database.run(source.metadata.create_all)
        with self.log.write(self.id, actor=FIRST_PERSON) as write:
            write.insert(
                words.move,
                {"id": MOVE_ID, words.date_field: words.dates[0], words.stage_field: words.stages[0]},
            )
            for number, title in enumerate(words.tasks, start=1):
                write.insert(words.item, self._item(number, title))

    def head(self) -> int:
        """Give HEAD, everything that waits numbered."""
        self.log.number(self.id)
        return self.log.snapshot(self.id).head

    def change_date(self, date: str, *, version: int) -> int | None:
        """Set a date, as a screen does that shows this version; gives the revision."""
        return self._save(FIRST_PERSON, self.words.move, MOVE_ID, {self.words.date_field: date}, version)

    def change_stage(self, stage: str, *, version: int) -> int | None:
        """Set a stage, as a screen does; gives the revision."""
        return self._save(SECOND_PERSON, self.words.move, MOVE_ID, {self.words.stage_field: stage}, version)

    def rename_task(self, item_id: str, title: str, *, version: int) -> int | None:
        """Rename a task, as a screen does; gives the revision."""
        return self._save(SECOND_PERSON, self.words.item, item_id, {self.words.title_field: title}, version)

    def import_tasks(self) -> int | None:
        """Add many tasks, as a job does; gives the last revision."""
        first = len(self.words.tasks) + 1
        with self.log.write(self.id, actor=IMPORT) as write:
            for number in range(first, first + IMPORTED):
                write.insert(self.words.item, self._item(number, self.words.imported.format(number)))
        return write.results[-1].revision

    def write_stale(self) -> None:
        """Save the first task from a screen that was opened when it had version 1."""
        self.rename_task(TASK_ID, self.words.tasks[-1], version=1)

    def run_nightly_job(self) -> None:
        """Change the stage in a transaction of the job's own, which knows nothing of numbering."""
        words = self.words
        engine = create_engine(self._driver_url())
        try:
            with (
                engine.begin() as connection,
                self.log.write(self.id, actor=NIGHTLY, within=connection) as write,
            ):
                write.update(words.move, MOVE_ID, {words.stage_field: words.stages[1]}, expected_version=2)
        finally:
            engine.dispose()

    def rename_twice(self, mutation_id: str) -> tuple[Sequence[WriteResult], Sequence[WriteResult]]:
        """Send one write twice under one mutation id, as a client does that missed the answer."""
        words = self.words
        sent: list[Sequence[WriteResult]] = []
        for _ in range(2):
            with self.log.write(self.id, actor=FIRST_PERSON, mutation_id=mutation_id) as write:
                write.update(
                    words.item, SECOND_TASK_ID, {words.title_field: words.imported.format(0)}, expected_version=1
                )
            sent.append(write.results)
        return sent[0], sent[1]

    def item(self, item_id: str) -> dict[str, Any]:
        """Give what a task says now, with its version."""
        items = self.log.snapshot(self.id).entities[1].rows
        row = next(row for row in items if row.entity_id == item_id)
        return {**row.values, "version": row.version}

    def is_held(self, thread_id: str) -> bool:
        """Say whether somebody has the right to run a thread."""
        found = self.database.read(leases.held, self.database.tables, [thread_id])
        return thread_id in found and found[thread_id].valid

    def waiting(self, thread_id: str) -> int:
        """Count who waits in line for a thread."""
        return self.database.read(_count_waiting, self.database.tables, thread_id)

    def _save(self, actor: Actor, source: Any, row_id: str, fields: dict[str, Any], version: int) -> int | None:
        with self.log.write(self.id, actor=actor) as write:
            write.update(source, row_id, fields, expected_version=version)
        return write.results[0].revision

    def _item(self, number: int, title: str) -> dict[str, Any]:
        return {
            "id": f"c{number}",
            "position": number,
            self.words.title_field: title,
            self.words.done_field: False,
        }

    def _driver_url(self) -> Any:
        url = make_url(self.url)
        return dialect_named(url.get_backend_name()).urls(url)[0]


@contextlib.contextmanager
def open_workspace(url: str, words: Words) -> Generator[Workspace]:
    """Open a new workspace in a database."""
    workspace = Workspace(url, words)
    with workspace.database:
        workspace.begin()
        yield workspace


def _count_waiting(connection: Connection, tables: Tables, thread_id: str) -> int:
    waiter = tables.thread_waiter
    counted = select(func.count()).select_from(waiter).where(waiter.c.thread_id == thread_id)
    return int(connection.execute(counted).scalar_one())


def _known(words: Words, *fields: str) -> dict[str, str]:
    return {field: words.labels[field] for field in fields}
