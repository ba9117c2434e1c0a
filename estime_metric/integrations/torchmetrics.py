"""`ESTIME` for TorchMetrics, and with it for Lightning.

Axes: ``n`` summaries, ``l`` layers, ``m`` measures.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.measures import STATISTICS
from estime_metric.inputs import check_choice, check_pairs
from estime_metric.integrations.states import each_id_once, fingerprint, integers
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer

try:
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat, rank_zero_warn
except ImportError as missing:
    raise ImportError(
        "ESTIME in TorchMetrics needs torchmetrics: pip install 'estime-metric[torchmetrics]'."
    ) from missing

_Self = TypeVar("_Self", bound="ESTIME")


class _State:
    """A state of the metric that always counts every pair: whoever reads it has pending pairs scored first."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_state_{name}"

    def __get__(self, metric: ESTIME | None, owner: type | None = None) -> Any:
        if metric is None:
            return self
        metric._score_pending()
        return metric.__dict__[self._name]

    def __set__(self, metric: ESTIME, value: Any) -> None:
        metric._score_pending()
        metric.__dict__[self._name] = value


class ESTIME(Metric):
    r"""Inconsistency of summaries with their sources: the mean number of alarms for each summary.

    As input to ``forward`` and ``update`` the metric accepts

    - ``preds`` (list of str): the summaries.
    - ``sources`` (list of str): the text that each was made from.
    - ``ids`` (int64 tensor of shape (n,), or list of int), optional: what tells the examples of the data set apart, say
      their row numbers. Examples of equal ``ids`` are counted once, on all processes together. A ``DistributedSampler``
      repeats some examples so that all processes get the same number; with ``ids`` they do no harm.
    - ``indices`` (int64 tensor, or list of int), optional: which of these pairs to count, as often as they are named;
      ``BootStrapper`` resamples tensors only, so it is given ``indices=torch.arange(n)`` as its first keyword argument.

    As output of ``forward`` and ``compute`` it returns float64 on the metric's device:

    - by default a scalar tensor, the mean of ``alarms`` over the summaries: 0 and up, lower is better; 0.0 where there
      are none, also before the first ``update``.
    - with ``return_dict=True`` a dictionary of such means, one for each measure; see ``estime_metric.engine.measures``
      for range and direction of each. Where several layers are read, the keys are ``alarms_12`` and so on.
    - with ``reduction=None`` values of shape (n,) instead of means. Those with ``ids`` come in ascending order of
      these, whatever the number of processes; those without in the order of updates, process after process.

    The encoder is no part of the module: it is in no ``parameters()``, ``state_dict()`` or checkpoint, stays in eval
    mode and in its own dtype, ignores autocast, and is shared by copies of the metric. It runs on the metric's device,
    so ``.to(device)`` moves the work, unless ``device`` names another. Each process scores the pairs that it is given;
    only numbers are exchanged.

    All processes have to call ``compute``, as with every metric: on one alone it waits for the others for ever. For the
    value of one process use ``sync_on_compute=False``. ``forward`` scores each pair once, with
    ``dist_sync_on_step=True`` twice.

    Args:
        config: an `EstimeConfig`; the default is the paper's setting.
        return_dict: return all measures that were computed.
        reduction: ``"mean"``, or ``None`` (also ``"none"``) for the values of each summary.
        buffer_size: pairs that ``update`` collects before they are scored, so that small batches fill the encoder. All
            are counted whenever a value or a state is read, saved, copied or synchronized. 1 scores in every update.
        cache: keeps the embeddings of sources from one epoch to the next: bytes of memory, a folder, a `SourceCache`,
            or ``None`` for none. It never changes a score.
        kwargs: options of `EstimeConfig`, laid over ``config``, and the keyword arguments of ``torchmetrics.Metric``.

    Raises:
        TypeError, ValueError: a bad option, or one that does not exist; several layers without ``return_dict``. In
            ``update``: texts that are no lists of strings, lengths that differ, ``ids`` or ``indices`` that are no
            integers; the message names argument and index.
        EncoderUnavailableError: in the first ``update``, where the encoder cannot be had.

    Source: Vasilyev & Bohannon 2021, Eq. 1.

    Example:
        >>> from estime_metric.integrations.torchmetrics import ESTIME
        >>> metric = ESTIME(model="embedded")
        >>> metric.update(["The cat slept."], ["The cat slept while the dog sat in the garden."])
        >>> alarms = metric.compute()
        >>> alarms.shape, alarms.dtype, bool(0 <= alarms <= 4)
        (torch.Size([]), torch.float64, True)
    """

    is_differentiable: bool = False
    higher_is_better: bool = False
    full_state_update: bool = False
    plot_lower_bound: float = 0.0

    #: Sum of each measure over the summaries without ``ids``, (l, m), and how many these are, ().
    total = _State()
    count = _State()
    #: A row for each summary that has to be kept: its id or NaN, then its values, (1 + l * m,).
    examples = _State()
    #: What tells metrics of different configurations apart, (32,); a ``MetricCollection`` lets equal states merge.
    configuration = _State()

    _REDUCTIONS: ClassVar[tuple[str | None, ...]] = ("mean", "none", None)

    def __init__(
        self,
        config: EstimeConfig | None = None,
        *,
        return_dict: bool = False,
        reduction: str | None = "mean",
        buffer_size: int = 64,
        cache: int | str | os.PathLike[str] | SourceCache | None = None,
        **kwargs: Any,
    ) -> None:
        names = {field.name for field in dataclasses.fields(EstimeConfig)}
        options = {name: kwargs.pop(name) for name in tuple(kwargs) if name in names}
        super().__init__(**kwargs)
        self.config = EstimeConfig.from_options(config, options)
        check_choice("reduction", reduction, self._REDUCTIONS)
        if isinstance(buffer_size, bool) or not isinstance(buffer_size, int) or buffer_size < 1:
            raise ValueError(
                f"Expected argument `buffer_size` to be an integer of at least 1, but got {buffer_size!r}."
            )
        self.return_dict = return_dict
        self.reduction = None if reduction == "none" else reduction
        self.buffer_size = buffer_size
        self.source_cache = SourceCache.of(cache)
        self._scorer: EstimeScorer | None = None
        self._pending: list[tuple[str, str, float]] = []
        self._layers = self.scorer.score([], []).layers if self.config.layers == "all" else self.config.layer_tuple
        self._measures = EstimeResult(torch.empty(0, 1, len(STATISTICS)), self.config).measures
        if len(self._layers) > 1 and not return_dict:
            raise ValueError(
                f"Expected argument `return_dict` to be True where several layers are read, but got {return_dict!r}."
            )
        shape = (max(1, len(self._layers)), len(self._measures))
        self.add_state("total", torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("count", torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("examples", [], dist_reduce_fx="cat")
        self.add_state("configuration", self._fingerprint(), dist_reduce_fx="max")

    @property
    def scorer(self) -> EstimeScorer:
        """What scores; it works on the metric's device unless the configuration names another."""
        if self._scorer is None:
            device = self.config.device or str(self.device)
            self._scorer = EstimeScorer(dataclasses.replace(self.config, device=device), cache=self.source_cache)
        return self._scorer

    @property
    def signature(self) -> str:
        """One line that says how the scores come about; loads the encoder."""
        return self.scorer.signature

    def update(
        self,
        preds: Sequence[str],
        sources: Sequence[str],
        ids: Tensor | Sequence[int] | None = None,
        indices: Tensor | Sequence[int] | None = None,
    ) -> None:
        """Takes summaries and their sources in; see the class."""
        summaries, texts = check_pairs(preds, sources, name="preds")
        numbers = [torch.nan] * len(summaries) if ids is None else integers("ids", ids)
        if len(numbers) != len(summaries):
            raise ValueError(
                "Expected arguments `ids` and `preds` to be of one length, "
                f"but got {len(numbers)} and {len(summaries)}."
            )
        pairs = list(zip(summaries, texts, numbers, strict=True))
        if indices is not None:
            places = integers("indices", indices)
            for place in places:
                if not 0 <= place < len(pairs):
                    raise ValueError(f"Expected argument `indices` to lie within 0..{len(pairs) - 1}, but got {place}.")
            pairs = [pairs[place] for place in places]
        if self._scorer is None:
            _ = self.signature  # an encoder that cannot be had is told now, not at the end of an epoch
        self._pending += pairs
        if len(self._pending) >= self.buffer_size:
            self._score_pending()

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The mean of each measure, or the values of each summary; see the class.

        Raises:
            ValueError: states of metrics with different configurations were merged.
        """
        if not torch.allclose(self.configuration.cpu(), self._fingerprint(), equal_nan=True):
            raise ValueError("Expected states of one configuration, but got those of another or of several.")
        shape: torch.Size = self.total.shape
        kept, differing = each_id_once(dim_zero_cat(self.examples) if len(self.examples) else self._no_examples())
        if differing:
            rank_zero_warn(
                f"{len(differing)} examples have the id of another and different scores, id {differing[0]} among them; "
                "they are not counted. Ids have to tell all examples of an epoch apart, and the metric has to be reset "
                "between epochs."
            )
        values = kept[:, 1:].view(-1, *shape)  # (n, l, m)
        if self.reduction == "mean":
            values = (self.total + values.sum(0)) / (self.count + len(values)).clamp(min=1)  # (l, m)
        if not self.return_dict:
            alarms: Tensor = values[..., 0, self._measures.index("alarms")]
            return alarms
        endings = [f"_{layer}" for layer in self._layers] if shape[0] > 1 else [""]
        return {
            f"{measure}{ending}": values[..., place, number]
            for place, ending in enumerate(endings)
            for number, measure in enumerate(self._measures)
        }

    def reset(self) -> None:
        """Forgets all pairs; encoder and cache stay."""
        self._pending.clear()
        super().reset()

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plots one value or several.

        Args:
            val: what ``forward`` or ``compute`` returned, or a list of such; ``None`` takes ``compute()``.
            ax: a matplotlib axis to draw on; ``None`` makes one.

        Returns:
            Figure and axis.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
        """
        return self._plot(val, ax)

    def _score_pending(self) -> None:
        """Scores the pairs that wait and adds them to the states; not while the states are those of all processes."""
        if not self._pending or self._is_synced:
            return
        summaries, sources, ids = zip(*self._pending, strict=True)
        result = self.scorer.score(summaries, sources)
        self._pending = []
        columns = [result.values(measure, layer) for layer in result.layers for measure in self._measures]
        rows = torch.stack([torch.tensor(ids, dtype=torch.float64), *columns], dim=1)  # (n, 1 + l * m)
        kept = torch.full((len(rows),), True) if self.reduction is None else ~rows[:, 0].isnan()
        counted = rows[~kept, 1:].to(self.total.device)
        self.total = self.total + counted.sum(0).view_as(self.total)
        self.count = self.count + len(counted)
        if kept.any():
            self.examples = [*self.examples, rows[kept].to(self.total.device)]

    def _fingerprint(self) -> Tensor:
        return fingerprint(self.config, self._layers, self._measures, self.reduction)

    def _no_examples(self) -> Tensor:
        return torch.empty(0, 1 + self.total.numel(), dtype=torch.float64, device=self.total.device)

    def _sync_dist(self, *args: Any, **kwargs: Any) -> None:
        if not self.examples:  # a process without any takes part with the same shape and dtype as the others
            self.examples = [self._no_examples()]
        super()._sync_dist(*args, **kwargs)

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        wrapped = super()._wrap_compute(compute)

        @functools.wraps(compute)
        def computed(*args: Any, **kwargs: Any) -> Any:
            value = wrapped(*args, **kwargs)
            if self.reduction == "mean":
                return value
            # A single example's values have lost their axis.
            return {k: v.reshape(-1) for k, v in value.items()} if isinstance(value, dict) else value.reshape(-1)

        return computed

    def _apply(self: _Self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> _Self:
        """Moves the states and the work; no call changes the dtype of the states."""
        before = self.device

        def moved(tensor: Tensor) -> Tensor:
            target = fn(tensor.new_zeros(())).device
            return tensor if target.type == "mps" else tensor.to(target)  # MPS knows no float64

        super()._apply(moved, exclude_state)
        self._device = fn(torch.zeros(1, device=before)).device
        if self._device != before:
            self._scorer = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        self._score_pending()
        state: dict[str, Any] = super().__getstate__()
        return state

    def __hash__(self) -> int:
        return hash((type(self).__name__, id(self)))
