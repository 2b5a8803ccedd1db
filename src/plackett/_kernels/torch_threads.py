"""PyTorch, the optional extra ``neural``: the one place that imports it, and how its work is spread over threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from plackett._base.errors import LossError
from plackett._kernels.cores import n_threads
from plackett._names.optional import optional

T = TypeVar("T")
#: Applies a function to each item and returns the results in order.
Spread = Callable[[Callable[[int], T], Sequence[int]], list[T]]


def load_torch() -> Any:
    """The module `torch`."""
    return optional("torch", "neural models need")


def pick_device(name: str) -> Any:
    """The device meant by ``"auto"`` (CUDA where there is one), ``"cpu"``, ``"cuda"`` or ``"cuda:1"``."""
    torch = load_torch()
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise LossError(f"device={name!r}; give 'auto', 'cpu' or 'cuda'") from None
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise LossError(f"device={name!r}, but PyTorch finds no CUDA device here; use device='auto' or 'cpu'")
        device = torch.device("cuda", torch.cuda.current_device() if device.index is None else device.index)
    return device


@contextmanager
def threads(device: Any, n_jobs: int | None) -> Iterator[Spread]:
    """Runs independent pieces of work on ``n_jobs`` threads on the CPU; on CUDA one by one.

    PyTorch's own threads split each operation and synchronise after it, dozens of times per step, and the order of
    summation depends on their number. Here each piece stays on one thread from beginning to end, so the result is the
    same to the last bit for any number of threads, and a busy machine costs little. PyTorch's setting is restored.
    """
    if device.type != "cpu":
        yield _one_by_one
        return
    workers = n_threads(n_jobs)
    with _single_threaded():
        if workers == 1:
            yield _one_by_one
        else:
            with ThreadPoolExecutor(workers, thread_name_prefix="plackett-neural") as pool:
                yield lambda function, items: list((pool.map if len(items) > 1 else map)(function, items))


class _Setting:
    """PyTorch's previous number of threads, saved by the first of several concurrent users and restored by the last."""

    lock = Lock()
    inside = 0
    outside = 1


@contextmanager
def _single_threaded() -> Iterator[None]:
    torch = load_torch()
    with _Setting.lock:
        if _Setting.inside == 0:
            _Setting.outside = torch.get_num_threads()
        _Setting.inside += 1
    torch.set_num_threads(1)
    try:
        yield
    finally:
        with _Setting.lock:
            _Setting.inside -= 1
        torch.set_num_threads(_Setting.outside)


def _one_by_one(function: Callable[[int], T], items: Sequence[int]) -> list[T]:
    return [function(item) for item in items]
