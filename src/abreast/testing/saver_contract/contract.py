"""The contract of a saver: its cases, and how they are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from abreast.errors import InvalidInput
from abreast.testing.saver_contract import behaviour, faults, races, values
from abreast.testing.saver_contract.results import ContractBroken, Left, Report, Result
from abreast.testing.saver_contract.stage import Setup, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from abreast.testing.saver_contract.replica import OpenSaver, Prepare

Group = Literal["races", "values", "graphs", "faults"]
Need = Literal["fault", "corrupt", "processes"]

_STEPS: Final[Mapping[Group, Mapping[Any, tuple[Need, ...]]]] = {
    "races": races.STEPS,
    "values": values.STEPS,
    "graphs": behaviour.STEPS,
    "faults": faults.STEPS,
}


@dataclass(frozen=True, slots=True)
class Case:
    """
    One thing that a saver has to keep.

    Attributes:
        group: `"races"`, `"values"`, `"graphs"` or `"faults"`.
        needs: What the contract must have been given for it: `"fault"`, `"corrupt"`, `"processes"`.
        about: What has to be so.
    """

    name: str
    group: Group
    needs: frozenset[str]
    about: str
    step: Callable[[Stage], str | None]

    def __str__(self) -> str:
        return self.name


def cases(*groups: Group) -> list[Case]:
    """
    Give the cases of some groups, or all.

    Raises:
        InvalidInput: There is no such group.

    Example:
        >>> [case.name for case in cases("races")][:2]
        ['no_message_is_lost', 'one_resume_counts']
    """
    unknown = sorted(set(groups) - set(_STEPS))
    if unknown:
        raise InvalidInput("groups", f"has no {unknown[0]!r}", f"name some of {', '.join(_STEPS)}")
    return [
        Case(step.__name__, group, frozenset(needs), (step.__doc__ or "").partition("\n")[0], step)
        for group, steps in _STEPS.items()
        if group in (groups or _STEPS)
        for step, needs in steps.items()
    ]


class SaverContract:
    """
    Runs the cases on one saver.

    Args:
        name: Stands in the report.
        store: Makes a store, as a context manager; what it gives is handed to `open_saver`. A store need not be
            empty: every case uses threads of its own.
        open_saver: Opens a saver on a store, as often as it is called, as another process would; a context manager,
            or an async one for a saver that is called by its async methods.
        prepare: Is given each compiled graph and its saver, and gives the graph that is run.
        configurable: What each run's `configurable` names besides the thread.
        rounds: How often a race is run.
        exclusive: Runs of one thread exclude each other, so that what a refused run would do is not done at all.
        processes: `open_saver` and what `store` gives can be sent to another process, as `multiprocessing` does it.
        fault: Is given a saver and a function, which it has called before each statement and around each commit:
            `killed_at_any_statement` and others end the process there. It is sent to another process as well.
        corrupt: Is given what `store` gave, a thread's id and one of `"flip"` and `"drop"` with `"checkpoint"`,
            `"value"`, `"list"` or `"write"`, as in `"flip value"`. It changes or removes such bytes of the thread in
            the store; False if the store has none.

    Raises:
        InvalidInput: `rounds` is below 1.

    Example:
        >>> from contextlib import nullcontext
        >>> from langgraph.checkpoint.memory import InMemorySaver
        >>> contract = SaverContract("InMemorySaver", lambda: nullcontext(InMemorySaver()), nullcontext)
        >>> contract.run(cases("values")[0]).outcome
        'passed'
    """

    def __init__(  # noqa: PLR0913 - each is something else that a saver may have
        self,
        name: str,
        store: Callable[[], AbstractContextManager[Any]],
        open_saver: OpenSaver,
        *,
        prepare: Prepare | None = None,
        configurable: Mapping[str, Any] | None = None,
        rounds: int = 20,
        exclusive: bool = False,
        processes: bool = False,
        fault: Callable[[Any, Callable[[], None]], None] | None = None,
        corrupt: Callable[[Any, str, str], bool] | None = None,
    ) -> None:
        if rounds < 1:
            raise InvalidInput("rounds", "is below 1", "run a race at least once")
        self.name = name
        self._store = store
        self._setup = Setup(
            open_saver=open_saver,
            prepare=prepare,
            configurable=configurable or {},
            rounds=rounds,
            exclusive=exclusive,
            fault=fault,
            corrupt=corrupt,
        )
        given = {"fault": fault is not None, "corrupt": corrupt is not None, "processes": processes}
        self._given = {name for name, is_given in given.items() if is_given}

    def cases(self, *groups: Group) -> list[Case]:
        """
        Give the cases that can be tried with what the contract was given.

        Raises:
            InvalidInput: There is no such group.
        """
        return [case for case in cases(*groups) if case.needs <= self._given]

    def run(self, case: Case) -> Result:
        """Run a case on a store; an error of the saver is a failure."""
        missing = sorted(case.needs - self._given)
        if missing:
            return Result(case.name, "skipped", f"the contract was given no {missing[0]}")
        try:
            with self._store() as handle, Stage(self._setup, handle) as stage:
                return Result(case.name, "passed", case.step(stage) or "")
        except Left as left:
            return Result(case.name, "skipped", str(left))
        except ContractBroken as broken:
            return Result(case.name, "failed", str(broken), broken)
        except Exception as error:  # noqa: BLE001 - whatever a saver raises is what is reported
            return Result(case.name, "failed", f"{type(error).__name__}: {' '.join(str(error).split())}", error)

    def report(self, chosen: Iterable[Case] | None = None) -> Report:
        """Run cases, all by default, those that cannot be tried as well."""
        return Report(self.name, [self.run(case) for case in (cases() if chosen is None else chosen)])
