"""One rule applied to one object, as a named callable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Any

import numpy as np

from plackett.testing._expect import CheckFailed


@dataclass(frozen=True)
class Check:
    """A rule, and the ranker, loss or measure to check. Call it to run the check.

    Attributes
    ----------
    subject
        What is checked, as text.
    name
        Name of the rule, such as ``"bounds"``.
    rule
        What the rule says.
    """

    subject: str
    name: str
    rule: str
    run: Callable[[], Any]

    def __call__(self) -> None:
        """Run the check.

        Raises
        ------
        CheckFailed
            The rule is broken; the message has the rule and what was found.
        """
        try:
            self.run()
        except CheckFailed as failure:
            raise CheckFailed(f"{self.subject} breaks the rule {self.name!r}.\nRule: {self.rule}\n{failure}") from None
        except Exception as error:
            error.add_note(f"while checking {self.subject} for the rule {self.name!r}: {self.rule}")
            raise

    def __str__(self) -> str:
        return f"{self.subject}-{self.name}"


def seeded_checks(
    subject: Any,
    functions: Sequence[Callable[..., None]],
    against: Collection[Callable[..., None]],
    definition: Any,
    random_state: int,
) -> Iterator[Check]:
    """The checks of a subject, each with random numbers of its own; those in ``against`` also get the definition."""
    for function in functions:
        given = (definition,) if function in against else ()

        def run(function: Callable[..., None] = function, given: tuple[Any, ...] = given) -> None:
            function(subject, np.random.default_rng(random_state), *given)

        yield Check(str(subject), *rule_of(function), run)


def rule_of(function: Callable[..., Any]) -> tuple[str, str]:
    """Name and text of the rule that a check function implements."""
    text = (getdoc(function) or "").partition("\n\n")[0]
    return function.__name__.removeprefix("check_"), " ".join(text.split())
