"""PyTorch, the optional extra ``neural``: the one place that imports it, and what it needs to leave no trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from plackett._errors import LossError
from plackett._kernel import n_threads

__all__ = ["draw_seed", "load_torch", "pick_device", "session"]


def load_torch() -> Any:
    """The module `torch`."""
    try:
        import torch
    except ImportError as error:
        raise ImportError("neural models need PyTorch: pip install plackett[neural]") from error
    return torch


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
def session(device: Any, n_jobs: int | None, seed: int | None = None) -> Iterator[None]:
    """Use ``n_jobs`` threads and, where a seed is given, random numbers of our own; then all is as it was before."""
    torch = load_torch()
    threads = torch.get_num_threads()
    cuda = device.type == "cuda"
    with torch.random.fork_rng(devices=[device.index] if cuda else [], enabled=seed is not None):
        if seed is not None:
            # `torch.manual_seed` would also seed the devices that are not ours
            torch.default_generator.manual_seed(seed)
            if cuda:
                with torch.cuda.device(device):
                    torch.cuda.manual_seed(seed)
        torch.set_num_threads(n_threads(n_jobs))
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def draw_seed(random_state: int | None) -> int:
    """Seed for PyTorch from ours; None draws a fresh one."""
    return int(np.random.default_rng(random_state).integers(2**62))
