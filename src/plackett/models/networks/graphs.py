"""Steps of static shape, recorded as CUDA graphs and replayed, because launches cost more than the computation."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

import numpy as np

from plackett._kernels.torch_threads import load_torch
from plackett.losses.base import DeviceForm
from plackett.losses.pairwise.device import MOST_PAIRS
from plackett.scorers.networks.base import Network
from plackett.scorers.networks.blocks import MOST_SLOTS
from plackett.scorers.networks.feed import Feed
from plackett.scorers.networks.lists import Lists

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset

#: Most slots of the table of scores of a network that looks at one document at a time.
MOST_SCORES = 1 << 22

#: Attention over longer lists runs in bfloat16 if the device has it: it is then most of the work, and in float32 it
#: takes three times as long.
LONG_LIST = 512

#: Streams of finished trainings, by device. PyTorch keeps some 64 MB for each stream that ever ran a matrix product,
#: and two simultaneous trainings must not share one.
_IDLE_STREAMS: defaultdict[Any, list[Any]] = defaultdict(list)


class Shape(NamedTuple):
    """Room for a batch: lists, slots in each, and rows where the network does not work on the table itself."""

    lists: int
    slots: int
    rows: int


def rounded_up(n: int, steps: int) -> int:
    """The next number of a grid with this many steps between powers of two, and a multiple of 8.

    >>> [rounded_up(n, 4) for n in (3, 32, 33, 50, 129)]
    [8, 32, 40, 56, 160]
    """
    step = max(8, (1 << max(n - 1, 1).bit_length() - 1) // steps)
    return -(-n // step) * step


def fits(form: DeviceForm | None, feed: Feed, group: np.ndarray, batch_size: int, *, list_aware: bool) -> bool:
    """Whether every batch of such data is one block that is computed on the device from beginning to end."""
    if form is None or feed.kept is None or not group.any():
        return False
    if list_aware:
        return True  # the batches are cut to a bounded number of slots
    lists, longest = min(batch_size, group.size), int(group.max())
    if lists * longest > MOST_SCORES or (form.pairs and lists * longest**2 > 8 * MOST_PAIRS):
        return False
    return int(np.sort(group)[-lists:].sum()) < MOST_SLOTS


class GraphSteps:
    """Epochs of training whose steps never wait for the host.

    All data stay on the device. The plan of an epoch is a table of queries with one row per batch, and the number of
    the batch is on the device too, so a step is the same sequence of launches for all batches of the same `Shape`. A
    shape is run directly the first time, recorded as a CUDA graph the second time and replayed from then on. Empty
    slots get gradient 0.

    Parameters
    ----------
    form, share
        The gradient of the loss, and what it is divided by.
    draw
        Returns the batches of an epoch, each as the numbers of its queries, in the order of their steps. Called for the
        next epoch while the device is still working on this one.
    step
        Called after the gradients were stored with the weights; it must not wait for the device.
    seed
        Of the dropout.
    """

    def __init__(
        self,
        form: DeviceForm,
        network: Network,
        weights: dict[str, Any],
        feed: Feed,
        data: RankingDataset,
        *,
        share: float,
        draw: Callable[[], list[np.ndarray]],
        step: Callable[[], None],
        seed: int,
    ) -> None:
        torch = load_torch()
        self.form, self.network, self.weights, self.feed = form, network, weights, feed
        self.draw, self.step, self.device = draw, step, feed.device
        self.trained = [tensor for tensor in weights.values() if tensor.requires_grad]

        def resident(values: np.ndarray, last: float, dtype: type) -> Any:
            return torch.from_numpy(np.append(values, last).astype(dtype)).to(self.device)

        # one more query without documents, and one more row, for what a batch leaves empty
        self.group = np.append(data.group, 0)
        self.n_rows, self.n_queries = data.n_rows, data.n_queries
        self.size = resident(data.group, 0, np.int64)
        self.first = resident(data.offsets[:-1], 0, np.int64)
        self.scale = resident(form.scale / share, 0.0, np.float32)
        self.per_row = [resident(values, empty, np.float32) for values, empty in form.per_row]
        self.positions = torch.arange(rounded_up(int(data.group.max()), 1), device=self.device)
        self.random = torch.Generator(self.device).manual_seed(seed) if network.dropout else None
        self.batch = torch.zeros(1, dtype=torch.int64, device=self.device)
        self.graphs: dict[Shape, Any] = {}
        self.met: set[Shape] = set()
        self.bfloat16 = False
        if self.device.type == "cuda":
            idle = _IDLE_STREAMS[self.device]
            self.stream = idle.pop() if idle else torch.cuda.Stream(self.device)
            finalize(self, idle.append, self.stream)
            self.pool = torch.cuda.graph_pool_handle()
            self.bfloat16 = torch.cuda.get_device_capability(self.device) >= (8, 0)
        batches = draw()
        self.queries = torch.empty((len(batches), max(map(len, batches))), dtype=torch.int64, device=self.device)
        self.mean_rows = max(1, data.n_rows // len(batches))
        with self._on_stream():
            self._load(batches)

    def epoch(self) -> None:
        """Run one step for each batch of the plan, and make the plan of the next epoch."""
        with self._on_stream():
            for shape in self.plan:
                self._run(shape)
            self._load(self.draw())

    def _load(self, batches: list[np.ndarray]) -> None:
        """Make these batches the plan; the device sees them after all work queued before."""
        torch = load_torch()
        table = np.full(tuple(self.queries.shape), self.n_queries)
        for row, queries in zip(table, (q for q in batches if self.group[q].any()), strict=False):
            row[: queries.size] = queries
        sizes = self.group[table]
        self.plan = [
            self._shape(int(np.count_nonzero(row < self.n_queries)), int(size.max()), int(size.sum()))
            for row, size in zip(table, sizes, strict=True)
            if size.any()
        ]
        host = torch.from_numpy(table)
        self.queries.copy_(host.pin_memory() if self.device.type == "cuda" else host, non_blocking=True)
        self.batch.zero_()

    def _shape(self, lists: int, longest: int, rows: int) -> Shape:
        """The smallest shape with enough room. There are few, since each is a graph, but none is much too large."""
        most = self.queries.shape[1]
        if self.network.list_aware:
            return Shape(min(most, 1 << (lists - 1).bit_length()), rounded_up(longest, 8), 0)
        if self.form.pairs:  # their work is the square of the longest list
            step, slots = max(8, self.mean_rows // 2), rounded_up(longest, 2)
        else:
            step, slots = max(8, self.mean_rows // 4), rounded_up(int(self.group.max()), 8)
        step = -(-step // 8) * 8
        return Shape(most, slots, (rows // step + 1) * step)  # one row at least is left

    def _run(self, shape: Shape) -> None:
        if shape in self.graphs:
            self.graphs[shape].replay()
        elif self.device.type != "cuda" or shape not in self.met:
            self.met.add(shape)
            self._step(shape)
        else:
            self.graphs[shape] = self._recorded(shape)
            self.graphs[shape].replay()

    def _recorded(self, shape: Shape) -> Any:
        graph = load_torch().cuda.CUDAGraph()
        if self.random is not None:
            graph.register_generator_state(self.random)
        with _no_collection():  # what it freed could belong to the device, which is not allowed meanwhile
            graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
            try:
                self._step(shape)
            finally:
                graph.capture_end()
        return graph

    def _step(self, shape: Shape) -> None:
        """Train on the batch whose number is on the device: forward pass, gradient of the loss, backward pass, step."""
        torch = load_torch()
        queries = self.queries.index_select(0, self.batch)[0, : shape.lists]
        size, position = self.size[queries][:, None], self.positions[: shape.slots]
        empty = position >= size
        rows = (self.first[queries][:, None] + position).masked_fill_(empty, self.n_rows)
        if shape.rows:
            # slot of the table → row of the batch; empty slots share the last row, which no document takes
            at = (size.cumsum(0) - size + position).masked_fill_(empty, shape.rows - 1)
            taken = at.new_full((shape.rows,), self.n_rows).scatter_(0, at.view(-1), rows.view(-1))
            lists = None
        else:
            taken = rows.view(-1)
            looked_at = position < size.clamp(min=1)  # attention over a list of only empty slots is undefined
            precision = torch.bfloat16 if self.bfloat16 and shape.slots > LONG_LIST else torch.float32
            mask = torch.zeros_like(looked_at, dtype=precision).masked_fill_(~looked_at, -torch.inf)
            lists = Lists(shape.lists, shape.slots, None, mask[:, None, None, :], precision)
        with torch.enable_grad():
            outputs = self.network.scores(self.weights, self.feed.kept.index_select(0, taken), lists, self.random)
        with torch.no_grad():
            scores = outputs[:, 0][at] if shape.rows else outputs.detach().view(rows.shape)
            gradient = self.form.gradient(torch, scores, *(values[rows] for values in self.per_row))
            gradient = gradient * self.scale[queries][:, None]
            if shape.rows:
                gradient = outputs.new_zeros(shape.rows).scatter_(0, at.view(-1), gradient.view(-1))
        gradients = torch.autograd.grad(outputs, self.trained, gradient.view(-1, 1))
        for tensor, part in zip(self.trained, gradients, strict=True):
            tensor.grad = part
        self.step()
        for tensor in self.trained:
            tensor.grad = None
        self.batch += 1

    @contextmanager
    def _on_stream(self) -> Iterator[None]:
        """Work on a separate stream, as recording requires, synchronised with the work before and after it."""
        if self.device.type != "cuda":
            yield
            return
        cuda = load_torch().cuda
        outside = cuda.current_stream(self.device)
        self.stream.wait_stream(outside)
        try:
            with cuda.stream(self.stream):
                yield
        finally:
            outside.wait_stream(self.stream)


@contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
