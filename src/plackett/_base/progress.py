"""A progress bar for work that takes long enough to need one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

#: Seconds of work before the bar appears.
PATIENCE = 2.0

T = TypeVar("T")


def progress(
    items: Iterable[T],
    description: str,
    total: int | None = None,
    *,
    amount: Callable[[T], int] = lambda item: 1,
    verbose: bool = True,
) -> Generator[T]:
    """Yield the items, with a progress bar on standard error once the work has taken two seconds.

    Parameters
    ----------
    amount
        How much of ``total`` an item is.

    Examples
    --------
    >>> list(progress([1, 2], "counting"))
    [1, 2]
    """
    if not verbose:
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(description, total=total)
    start, shown = time.perf_counter(), False
    try:
        for item in items:
            bar.advance(task, amount(item))
            if not shown and time.perf_counter() - start > PATIENCE:
                bar.start()
                shown = True
            yield item
    finally:
        if shown:
            bar.stop()


@contextmanager
def steps(total: int, description: str, *, verbose: bool = True) -> Iterator[Callable[[], None]]:
    """The same bar for work that is no loop over items: call what it gives at the beginning of each step.

    >>> with steps(2, "halves") as step:
    ...     step()
    ...     step()
    """
    with closing(progress(range(total), description, total, verbose=verbose)) as items:

        def step() -> None:
            next(items, None)

        yield step
