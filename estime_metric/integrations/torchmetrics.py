"""`ESTIME` for TorchMetrics and Lightning. Axes: ``n`` summaries, ``l`` layers, ``m`` measures."""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from estime_metric.config import OPTIONS, EstimeConfig, EstimeOptions, similar_option
from estime_metric.engine.cache import SourceCache
from estime_metric.inputs import check_choice, check_pairs
from estime_metric.integrations.states import chosen_rows, each_id_once, id_numbers
from estime_metric.measures import FURTHER_MEASURES, MEASURES, STATISTICS
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer

try:
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat, rank_zero_warn
    from torchmetrics.utilities.exceptions import TorchMetricsUserError
except ImportError as missing:
    message = (
        "ESTIME in TorchMetrics needs torchmetrics: pip install 'estime-metric[torchmetrics]'."
    )
    raise ImportError(message) from missing

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Self = TypeVar("_Self", bound="ESTIME")

#: Held while an update is added to the states. The module's own: that of a metric could not be
#: copied or pickled.
_ADDING = threading.Lock()


class MetricOptions(EstimeOptions, total=False):
    """The keywords of `ESTIME`: those of `EstimeConfig` and those of ``torchmetrics.Metric``."""

    compute_on_cpu: bool
    dist_sync_on_step: bool
    process_group: Any
    dist_sync_fn: Callable[..., Any] | None
    distributed_available_fn: Callable[..., bool]
    sync_on_compute: bool
    compute_with_cache: bool


class ESTIME(Metric):
    r"""Inconsistency of summaries with their sources: by default the mean number of alarms for each
    summary.

    As input to ``forward`` and ``update`` the metric accepts

    - ``preds`` (list of str): the summaries.
    - ``sources`` (list of str), by keyword only, since they are no ``target``: the text that each
      was made from.
    - ``ids`` (int64 tensor of shape (n,), or list of int), optional: what tells the examples of the
      data set apart, say their row numbers. Equal ``ids`` are counted once over all processes: a
      ``DistributedSampler`` repeats examples.
    - ``indices`` (int64 tensor, or list of int), optional: which of these pairs to count, as often
      as they are named; ``BootStrapper``, which resamples tensors only, takes
      ``indices=torch.arange(n)`` as its first keyword argument.

    As output of ``forward`` and ``compute`` it returns float64 on the metric's device:

    - by default a scalar tensor, the mean of ``measure`` over the summaries for which it is
      defined; NaN where there is none, also before the first ``update``. A warning says how many
      were left out.
    - with ``return_dict=True`` a dictionary of such means, one for each measure, ``coverage`` among
      them, and as ``blank`` the number of summaries without tokens; see
      ``estime_metric.measures.MEASURES`` for range and direction of each. Where several layers are
      read, the keys are ``alarms_12`` and so on.
    - with ``reduction=None`` values of shape (n,) instead of means, NaN where the measure is
      undefined. Those with ``ids`` come in ascending order of these; those without in the order of
      updates, process after process.

    The encoder is in no ``parameters()``, ``state_dict()`` or checkpoint, keeps its own dtype, and
    is shared by copies of the metric. It runs on the metric's device, unless ``device`` names
    another. Threads may call ``update`` side by side, but nothing else beside it. All processes
    have to call ``compute``, since one alone waits for the others indefinitely; for the value of
    one use ``sync_on_compute=False``. ``forward`` scores each pair once, with
    ``dist_sync_on_step=True`` twice.

    Args:
        config: an `EstimeConfig`; the default is the paper's setting.
        measure: what is returned where ``return_dict`` is not set; ``higher_is_better`` and the
            plot follow it.
        return_dict: return all measures that were computed.
        reduction: ``"mean"``, or ``None`` (also ``"none"``) for the values of each summary.
        cache: keeps the embeddings of sources from one epoch to the next: bytes of memory, a
            folder, a `SourceCache`, or ``None`` for none. Scores stay the same but for rounding.
        kwargs: options of `EstimeConfig`, laid over ``config``, and the keyword arguments of
            ``torchmetrics.Metric``.

    Raises:
        TypeError, ValueError: a bad option, or one that does not exist; several layers without
            ``return_dict``. In ``update``: texts, ``ids`` or ``indices`` that are none, lengths
            that differ; the message names argument and index.
        EncoderUnavailableError: in ``update``, where the encoder cannot be loaded.

    Source: Vasilyev & Bohannon 2021, Eq. 1.

    Example:
        >>> from estime_metric import ESTIME
        >>> metric = ESTIME(model="embedded", measure="inconsistency")
        >>> metric.update(["The cat slept."], sources=["The cat slept while the dog sat in the garden."])
        >>> value = metric.compute()
        >>> value.shape, value.dtype, bool(0 <= value <= 1)
        (torch.Size([]), torch.float64, True)
    """

    is_differentiable: bool = False
    full_state_update: bool = False

    #: Sum of each measure over the summaries without ``ids`` for which it is defined, and how many
    #: these are, (l, m).
    total: Tensor
    count: Tensor
    #: A row for each summary that has to be kept: its id or NaN, then its values, (1 + l * m,).
    examples: list[Tensor]
    #: Its `_fingerprint`, 0 before the first update; a ``MetricCollection`` lets metrics of equal
    #: states share one.
    configuration: Tensor

    def __init__(
        self,
        config: EstimeConfig | None = None,
        *,
        measure: str = "alarms",
        return_dict: bool = False,
        reduction: str | None = "mean",
        cache: int | str | os.PathLike[str] | SourceCache | None = None,
        **kwargs: Unpack[MetricOptions],
    ) -> None:
        given: dict[str, Any] = dict(kwargs)
        options = {name: given.pop(name) for name in tuple(given) if name in OPTIONS}
        for name in given:
            if name not in MetricOptions.__annotations__ and (meant := similar_option(name)):
                raise TypeError(
                    f"Expected an option of ESTIME, but got `{name}`. Did you mean `{meant}`?"
                )
        super().__init__(**given)
        check_choice("measure", measure, MEASURES)
        check_choice("reduction", reduction, ("mean", "none", None))
        self.config = EstimeConfig.from_options(config, options)
        if measure in FURTHER_MEASURES:
            self.config = replace(self.config, measures=(*self.config.measures, measure))
        self.measure = measure
        self.return_dict = return_dict
        self.reduction = None if reduction == "none" else reduction
        self.source_cache = SourceCache.of(cache)
        self._scorer: EstimeScorer | None = None
        self._layers = (
            self.scorer.score([], []).layers
            if self.config.layers == "all"
            else self.config.layer_tuple
        )
        self._measures = EstimeResult(torch.empty(0, 1, len(STATISTICS)), self.config).measures
        if len(self._layers) > 1 and not return_dict:
            raise ValueError(
                f"Expected argument `return_dict` to be True where several layers are read, but got {return_dict!r}."
            )
        shape = (max(1, len(self._layers)), len(self._measures))
        self.add_state("total", torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("count", torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("examples", [], dist_reduce_fx="cat")
        self.add_state("configuration", torch.zeros(32, dtype=torch.float64), dist_reduce_fx="max")

    higher_is_better = property(
        lambda self: MEASURES[self.measure].higher_is_better, doc="Of ``measure``."
    )
    plot_lower_bound = property(lambda self: MEASURES[self.measure].low, doc="Of ``measure``.")

    @property
    def plot_upper_bound(self) -> float | None:  # type: ignore[override]
        """The greatest value of ``measure``, if it has one; a dictionary holds measures of any
        size.
        """
        high = MEASURES[self.measure].high
        return None if self.return_dict or isinstance(high, str) else high

    @property
    def scorer(self) -> EstimeScorer:
        """What scores; it works on the metric's device unless the configuration names another."""
        if self._scorer is None:
            device = self.config.device or str(self.device)
            self._scorer = EstimeScorer(
                replace(self.config, device=device), cache=self.source_cache
            )
        return self._scorer

    @property
    def signature(self) -> str:
        """One line that says how the scores come about; loads the encoder."""
        return self.scorer.signature

    def update(
        self,
        preds: Sequence[str],
        *,
        sources: Sequence[str],
        ids: Tensor | Sequence[int] | None = None,
        indices: Tensor | Sequence[int] | None = None,
    ) -> None:
        """Scores summaries against their sources and counts them; see the class."""
        if (
            self._is_synced
        ):  # what is added now would be lost, since `unsync` restores the states from before
            raise TorchMetricsUserError(
                "Expected a metric that is not synchronized, but got one that is: unsync it."
            )
        summaries, texts = check_pairs(preds, sources, name="preds")
        numbers = id_numbers(ids, len(summaries))
        if indices is not None:
            chosen = chosen_rows(indices, len(summaries))
            summaries, texts = [summaries[row] for row in chosen], [texts[row] for row in chosen]
            numbers = [numbers[row] for row in chosen]
        result = self.scorer.score(summaries, texts)
        columns = [
            result.values(measure, layer) for layer in result.layers for measure in self._measures
        ]
        rows = torch.stack(
            [torch.tensor(numbers, dtype=torch.float64), *columns], dim=1
        )  # (n, 1 + l * m)
        kept = torch.full((len(rows),), True) if self.reduction is None else ~rows[:, 0].isnan()
        counted = rows[~kept, 1:].view(-1, *self.total.shape)
        with _ADDING:
            self.total = self.total + counted.nansum(0).to(self.total.device)
            self.count = self.count + (~counted.isnan()).sum(0).to(self.count)
            self.configuration = self._fingerprint()
            if kept.any():
                self.examples.append(rows[kept].to(self.total.device))

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The mean of each measure, or the values of each summary; see the class.

        Raises:
            ValueError: states of metrics with different configurations were merged.
        """
        known = self.configuration
        if known.any() and not torch.allclose(known, self._fingerprint(), equal_nan=True):
            raise ValueError(
                "Expected states of one configuration, but got those of another or of several."
            )
        examples = dim_zero_cat(self.examples) if len(self.examples) else self._no_examples()
        kept, differing = each_id_once(
            examples.to(self.total.device)
        )  # `compute_on_cpu` keeps lists on the CPU
        if differing:
            rank_zero_warn(
                f"{len(differing)} examples have the id of another and different scores, id {differing[0]} among them; "
                "they are not counted. Ids have to tell all examples of an epoch apart, and the metric has to be reset "
                "between epochs."
            )
        values = kept[:, 1:].view(-1, *self.total.shape)  # (n, l, m)
        if self.reduction == "mean":
            values = self._means(values)  # (l, m)
        if not self.return_dict:
            value: Tensor = values[..., 0, self._measures.index(self.measure)]
            return value
        endings = [f"_{layer}" for layer in self._layers] if len(self._layers) > 1 else [""]
        return {
            f"{measure}{ending}": values[..., row, column]
            for row, ending in enumerate(endings)
            for column, measure in enumerate(self._measures)
        }

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plots ``val``, one value or several as ``forward`` and ``compute`` return them, by
        default ``compute()``.

        Returns:
            Figure and axis; ``ax`` is the axis to draw on.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
        """
        figure, axis = self._plot(val, ax)
        if not self.return_dict:
            axis.set_ylabel(f"ESTIME {self.measure}")  # type: ignore[union-attr]
        return figure, axis

    def _means(self, values: Tensor) -> Tensor:
        """The mean over the counted summaries and ``values``, (n, l, m), of `blank` the sum; warns
        if undefined.
        """
        count = self.count + (~values.isnan()).sum(0)
        returned = self._measures if self.return_dict else [self.measure]
        defined = {measure: int(count[0, self._measures.index(measure)]) for measure in returned}
        pairs = int(
            count[0, self._measures.index("tokens")]
        )  # a number of tokens is never undefined
        least = min(defined, key=defined.__getitem__)
        if defined[least] < pairs:
            rank_zero_warn(
                f"{least} is undefined for {pairs - defined[least]} of {pairs} pairs, which are left out of its mean: "
                "their summaries have no token of their sources, blank ones among them."
            )
        summed = self.total + values.nansum(0)
        means = summed / count
        blank = self._measures.index("blank")
        means[:, blank] = summed[:, blank]
        return means

    def _fingerprint(self) -> Tensor:
        """The bytes of a digest of whatever tells states apart, (32,); NaN for a configuration with
        a function.
        """
        if callable(self.config.splitter) or callable(self.config.tagger):
            return torch.full_like(self.configuration, torch.nan)
        # The signature is that of a loaded encoder: machines may have different commits of one
        # model.
        known = repr((self.signature, self._layers, self._measures, self.reduction))
        return torch.tensor(list(hashlib.sha256(known.encode()).digest())).to(self.configuration)

    def _no_examples(self) -> Tensor:
        return torch.empty(0, 1 + self.total.numel(), dtype=torch.float64, device=self.total.device)

    def _sync_dist(self, *args: Any, **kwargs: Any) -> None:
        if not len(
            self.examples
        ):  # a process without any takes part with the same shape and dtype as the others
            self.examples = [self._no_examples()]
        super()._sync_dist(*args, **kwargs)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        if isinstance(
            self.examples, Tensor
        ):  # saved while synchronized, when the list is one tensor
            self.examples = [self.examples]

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        wrapped = super()._wrap_compute(compute)

        @functools.wraps(compute)
        def computed(*args: Any, **kwargs: Any) -> Any:
            value = wrapped(*args, **kwargs)
            if self.reduction == "mean":
                return value
            # A single example's values have lost their axis.
            return (
                {k: v.reshape(-1) for k, v in value.items()}
                if isinstance(value, dict)
                else value.reshape(-1)
            )

        return computed

    def _apply(
        self: _Self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = ""
    ) -> _Self:
        """Moves the states and the work; no call changes the dtype of the states."""
        before = self.device

        def moved(tensor: Tensor) -> Tensor:
            target = fn(tensor.new_zeros(())).device
            return tensor if target.type == "mps" else tensor.to(target)  # MPS has no float64

        super()._apply(moved, exclude_state)
        self._device = fn(torch.zeros(1, device=before)).device
        if self._device != before:
            self._scorer = None
        return self
