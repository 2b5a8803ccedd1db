"""Check your own ranker, loss or measure against the rules that the package's own follow.

One call checks everything, and says which rule is broken and what was found:

>>> import plackett as pk
>>> pk.testing.check_measure(pk.measures.nDCG @ 5)
>>> pk.testing.check_loss(pk.losses.Logistic(margin=1.0))

`check_ranker` does the same for rankers. `checks` lists the rules one by one, and `parametrize_with_checks` turns each
into a pytest test. Nothing else here needs pytest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plackett.testing._check import Check
from plackett.testing._expect import CheckFailed

if TYPE_CHECKING:
    from plackett.testing.losses import check_loss as check_loss
    from plackett.testing.measures import check_measure as check_measure
    from plackett.testing.rankers import check_ranker as check_ranker

__all__ = [
    "Check",
    "CheckFailed",
    "check_loss",
    "check_measure",
    "check_ranker",
    "checks",
    "parametrize_with_checks",
]


def checks(subject: Any, **options: Any) -> Iterator[Check]:
    """List the checks of a ranker, loss or measure.

    Parameters
    ----------
    subject
        A ranker, loss or measure, as for `check_ranker`, `check_loss` or `check_measure`.
    **options
        Their parameters ``definition`` and ``random_state``; rankers have none.

    Returns
    -------
    iterator of Check
        Each has the name and text of its rule; call it to run it.

    Examples
    --------
    >>> import plackett as pk
    >>> for check in pk.testing.checks(pk.measures.RR):
    ...     if check.name in ("bounds", "threads"):
    ...         print(f"{check.name}: {check.rule}")
    bounds: One float64 per query, between the bounds that the class declares.
    threads: Equal to the last bit for any number of threads.
    """
    from plackett.losses.base import Loss
    from plackett.measures.base import Measure

    cls: Any = subject if isinstance(subject, type) else subject.func if isinstance(subject, partial) else type(subject)
    if issubclass(cls, (Measure, str)):
        from plackett.testing.measures import measure_checks

        return measure_checks(subject() if isinstance(subject, type) else subject, **options)
    if issubclass(cls, Loss):
        from plackett.testing.losses import loss_checks

        return loss_checks(subject, **options)
    from plackett.testing.rankers import ranker_checks

    return ranker_checks(subject, **options)


def parametrize_with_checks(subjects: Iterable[Any], **options: Any) -> Any:
    """A pytest decorator: one test for each rule and each ranker, loss or measure. Needs pytest.

    The test function has one argument ``check``, and calls it.

    Parameters
    ----------
    subjects
        Several rankers, losses or measures, as for `checks`.
    **options
        As for `checks`.

    Examples
    --------
    >>> import plackett as pk
    >>> @pk.testing.parametrize_with_checks([pk.measures.RR, pk.measures.AP @ 5])
    ... def test_rules(check):
    ...     check()
    """
    import pytest

    every = [check for subject in subjects for check in checks(subject, **options)]
    return pytest.mark.parametrize("check", every, ids=str)


def __getattr__(name: str) -> Any:
    modules = {"check_loss": "losses", "check_measure": "measures", "check_ranker": "rankers"}
    if name in modules:
        return getattr(import_module(f"plackett.testing.{modules[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
