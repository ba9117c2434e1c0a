"""`ESTIME` for TorchMetrics and Lightning. Axes: ``n`` summaries, ``l`` layers, ``m`` measures."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

import torch
from torch import Tensor

from estime_metric._messages import needs_extra
from estime_metric.checks import check_choice, check_pairs
from estime_metric.config import OPTIONS, EstimeConfig, EstimeOptions, similar_option
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache
from estime_metric.engine.encoder.hub import check_models
from estime_metric.integrations.states import (
    chosen_indices,
    each_id_once,
    id_numbers,
    rows_of,
    values_of,
)
from estime_metric.measures import (
    FURTHER_MEASURES,
    MEASURES,
    RECOMMENDED,
    Measure,
    reported_name,
)
from estime_metric.scorer import EstimeScorer, warn_of_input

with needs_extra("torchmetrics", "ESTIME in TorchMetrics needs torchmetrics"):
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat, rank_zero_warn
    from torchmetrics.utilities.exceptions import TorchMetricsUserError

#: Locked while an update is added to the states. It belongs to the module, because a metric with a lock
#: could not be copied or pickled.
_ADDING = threading.Lock()


class MetricOptions(EstimeOptions, total=False):
    """The keyword arguments of `ESTIME`: those of `EstimeConfig` and of ``torchmetrics.Metric``."""

    compute_on_cpu: bool
    dist_sync_on_step: bool
    process_group: Any
    dist_sync_fn: Callable[..., Any] | None
    distributed_available_fn: Callable[..., bool]
    sync_on_compute: bool
    compute_with_cache: bool


#: The keyword arguments of `ESTIME` that are not options of `EstimeConfig`.
_OWN = ("measure", "return_dict", "reduction", "cache")

#: The measures that every metric counts, so that metrics of different measures have equal states and
#: a ``MetricCollection`` lets them share one. Those that mask further tokens cost more.
_COUNTED = tuple(name for name, measure in MEASURES.items() if not measure.needs_every_unit)

#: Those that depend on the texts alone, whatever the batch and the precision.
_OF_TEXTS = tuple(name for name, measure in MEASURES.items() if measure.is_of_texts)


def _check_measure(measure: Any, return_dict: bool) -> None:
    if not isinstance(measure, str):
        raise TypeError(
            f"Expected argument `measure` to be one name, but got {measure!r}. For several, pass "
            "`return_dict=True, measures=[...]`."
        )
    check_choice("measure", measure, MEASURES)
    if return_dict:
        raise ValueError(
            f"Expected argument `measure` or `return_dict=True`, but got both. To have {measure!r} in the dictionary, "
            f"pass `return_dict=True, measures=[{measure!r}]`."
        )


class ESTIME(Metric):
    r"""Computes the inconsistency of summaries with their sources.

    As input to ``forward`` and ``update`` the metric accepts

    - ``preds`` (list of str): the summaries.
    - ``target``, ignored: the references that other metrics of a ``MetricCollection`` read.
    - ``sources`` (list of str), by keyword only: the text that each summary was made from.
    - ``ids`` (int64 tensor of shape (n,), or list of int), optional: a unique identifier of each
      example, such as its row number. Examples with the same id are counted once across all
      processes, because ``DistributedSampler`` repeats examples.
    - ``indices`` (int64 tensor, or list of int), optional, not together with ``ids``: which of these
      pairs to count, as often as they are listed. ``BootStrapper`` resamples only tensors and reads
      the number of pairs from its first argument: pass it ``indices=torch.arange(n)`` as the first
      keyword.

    As output of ``forward`` and ``compute`` it returns float32 on the metric's device (the states
    are float64):

    - a scalar tensor, the mean of ``measure`` over the summaries for which it is defined; NaN if
      there is none, also before the first ``update``. A warning reports how many were excluded.
    - with ``return_dict=True`` a dictionary of such means, one for each of ``BASE_MEASURES`` and of
      ``measures``, and as ``blank`` the number of summaries without tokens; see
      ``estime_metric.measures.MEASURES`` for range and direction of each. If several layers are
      read, the keys are ``alarms_layer12`` and so on. A dictionary has no single direction, so
      ``higher_is_better`` is ``None``; `MetricTracker` needs a metric with a ``measure``.
    - with ``reduction=None`` values of shape (n,) instead of means, NaN if the measure is
      undefined. Values with ``ids`` are in ascending order of the ids; values without are in the
      order of updates, process after process.

    The encoder is not part of ``parameters()``, ``state_dict()`` or a checkpoint, keeps its own
    dtype, and is shared by copies of the metric. It runs on the metric's device, unless ``device``
    names another. Several threads may call ``update`` concurrently, but no other method at the same
    time. All processes must call ``compute``; otherwise it waits for the others forever. To get the
    value of a single process, use ``sync_on_compute=False``. ``forward`` scores each pair once, or
    twice with ``dist_sync_on_step=True``.

    Args:
        config: an `EstimeConfig`; the default uses the bundled encoder ``"embedded"``.
        measure: the measure that is returned. ``None`` returns ``"inconsistency"``, by which you can
            select checkpoints and compare systems. ``"alarms"`` is the paper's score, but a blank
            summary has its best value. ``higher_is_better`` and the plot follow the measure.
        return_dict: return a dictionary of measures instead of one ``measure``.
        reduction: ``"mean"``, or ``None`` (also ``"none"``) for the values of each summary.
        cache: keeps the embeddings of sources from one epoch to the next: bytes of memory, a
            `SourceCache`, or ``None`` for none. By default, all metrics of a process share one of
            1 GB, so N ranks of a machine use N GB. Scores stay the same except for rounding.
        kwargs: options of `EstimeConfig`, which override those in ``config``, and the keyword
            arguments of ``torchmetrics.Metric``.

    Metrics in a ``MetricCollection`` that differ only in ``measure`` or ``return_dict`` score each
    pair once. If one of them has a ``measure`` that also reads tokens which do not occur in the
    source (``soft``, ``coherence``, ``alarms_alltokens``), name it in ``measures`` of all.

    Raises:
        TypeError, ValueError: an invalid option, or one that does not exist; several layers without
            ``return_dict``. In ``update``: invalid texts, a source without words, invalid ``ids`` or
            ``indices``, or lengths that differ; the message names argument and index.
        EncoderUnavailableError: there is certainly no such ``model``, as for `EstimeScorer`; in
            ``update``, if the encoder cannot be loaded.

    Source: Vasilyev & Bohannon 2021, Eq. 1.

    Example:
        >>> from estime_metric import ESTIME
        >>> metric = ESTIME()
        >>> metric.update(["The cat slept."], sources=["The cat slept while the dog sat in the garden."])
        >>> value = metric.compute()
        >>> value.shape, value.dtype, bool(0 <= value <= 1)
        (torch.Size([]), torch.float32, True)
    """

    is_differentiable: bool = False
    full_state_update: bool = False

    #: Sum of each measure over the summaries without ``ids`` for which it is defined, and how many
    #: these are, (l, m).
    total: Tensor
    count: Tensor
    #: The summaries that have to be kept, as `states.rows_of` with ``l * m`` values.
    examples: list[Tensor]
    #: Its `_fingerprint`, 0 before the first update; a ``MetricCollection`` lets metrics of equal
    #: states share one.
    configuration: Tensor

    def __init__(
        self,
        config: EstimeConfig | None = None,
        *,
        measure: str | None = None,
        return_dict: bool = False,
        reduction: str | None = "mean",
        cache: int | SourceCache | None = DEFAULT_CACHE,
        **kwargs: Unpack[MetricOptions],
    ) -> None:
        options = {name: value for name, value in kwargs.items() if name in OPTIONS}
        others: dict[str, Any] = {
            name: value for name, value in kwargs.items() if name not in OPTIONS
        }
        for name in others:
            if name not in MetricOptions.__annotations__ and (hint := similar_option(name, _OWN)):
                raise TypeError(f"Expected an option of ESTIME, but got `{name}`.{hint}")
        if measure is not None:
            _check_measure(measure, return_dict)
        elif not return_dict:
            measure = RECOMMENDED
        check_choice("reduction", reduction, ("mean", "none", None))
        super().__init__(**others)
        self.config = EstimeConfig.from_options(config, options)
        check_models(self.config)
        if measure in FURTHER_MEASURES:
            self.config = replace(self.config, measures=(*self.config.measures, measure))
        self.measure = measure
        self.return_dict = return_dict
        self.reduction = None if reduction == "none" else reduction
        self.source_cache = SourceCache.of(cache)
        self._scorer: EstimeScorer | None = None
        self._measures = tuple(
            name for name in MEASURES if name in {*_COUNTED, *self.config.measures}
        )
        self._layers = self.config.layer_tuple
        if self.config.layers == "all":  # read from the encoder, also for a metric on `meta`
            device = self.config.device or "cpu"
            self._layers = EstimeScorer(self.config, device=device).resolved_config.layer_tuple
        if len(self._layers) > 1 and not return_dict:
            raise ValueError(
                f"Expected argument `return_dict` to be True if several layers are read, but got {return_dict!r}."
            )
        shape = (max(1, len(self._layers)), len(self._measures))
        self.add_state("total", torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("count", torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("examples", [], dist_reduce_fx="cat")
        self.add_state("configuration", torch.zeros(32, dtype=torch.float64), dist_reduce_fx="max")

    @property
    def _returned(self) -> Measure | None:
        """The measure that is returned; ``None`` if it is a dictionary."""
        return None if self.measure is None else MEASURES[self.measure]

    @property
    def higher_is_better(self) -> bool | None:  # type: ignore[override]
        """The direction of ``measure``; ``None`` if it has none, or if a dictionary is returned."""
        return None if self._returned is None else self._returned.higher_is_better

    @property
    def plot_lower_bound(self) -> float | None:  # type: ignore[override]
        """The least value of ``measure``; ``None`` if a dictionary is returned."""
        return None if self._returned is None else self._returned.low

    @property
    def plot_upper_bound(self) -> float | None:  # type: ignore[override]
        """The greatest value of ``measure``; ``None`` if it has none, or if a dictionary is
        returned.
        """
        high = None if self._returned is None else self._returned.high
        return None if isinstance(high, str) else high

    @property
    def scorer(self) -> EstimeScorer:
        """What scores; it works on the metric's device unless the configuration names another."""
        if self._scorer is None:
            measures = tuple(name for name in self._measures if name in FURTHER_MEASURES)
            device = self.config.device or str(self.device)
            config = replace(self.config, device=device, measures=measures)
            self._scorer = EstimeScorer(config, cache=self.source_cache)
        return self._scorer

    @property
    def signature(self) -> str:
        """One line that says how the scores come about; loads the encoder."""
        return self.scorer.signature

    def update(
        self,
        preds: Sequence[str],
        target: object = None,
        *,
        sources: Sequence[str] | None = None,
        ids: Tensor | Sequence[int] | None = None,
        indices: Tensor | Sequence[int] | None = None,
    ) -> None:
        """Scores summaries against their sources, which are required, and counts them; see the
        class.
        """
        if sources is None:
            raise TypeError(
                "Expected the texts that were summarized by keyword, as `sources=`, but got none; `target`, the second "
                "argument, is ignored, because other metrics read references there. In a MetricCollection, call "
                "`update(preds=..., target=..., sources=...)`."
            )
        if ids is not None and indices is not None:
            raise ValueError(
                "Expected argument `ids` or `indices`, but got both: BootStrapper resamples each tensor, so the ids "
                "would no longer belong to the pairs. Pass `indices=torch.arange(n)` alone, as the first keyword."
            )
        if self._is_synced:
            # What is added now would be lost, since `unsync` restores the states from before.
            raise TorchMetricsUserError(
                "Expected a metric that is not synchronized, but got one that is: unsync it."
            )
        summaries, texts = check_pairs(preds, sources, name="preds")
        if indices is not None:
            chosen = chosen_indices(indices, len(summaries))
            summaries = [summaries[index] for index in chosen]
            texts = [texts[index] for index in chosen]
        numbers = id_numbers(ids, len(summaries))
        result = self.scorer.score_checked(summaries, texts)
        warn_of_input(result.input_warnings, stacklevel=3)  # who called `update`
        values = [
            result.values(measure, layer) for layer in result.layers for measure in self._measures
        ]
        rows = rows_of(numbers, torch.stack(values, dim=1))
        with _ADDING:
            self.configuration = self._fingerprint()
            if ids is not None or self.reduction is None:
                self.examples.append(rows.to(self.total.device))
            else:
                counted = values_of(rows).view(-1, *self.total.shape)  # (n, l, m)
                self.total = self.total + counted.nansum(0).to(self.total.device)
                self.count = self.count + (~counted.isnan()).sum(0).to(self.count)

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The mean of each measure, or the values of each summary; see the class.

        Raises:
            ValueError: states of metrics with different configurations were merged.
        """
        merged = self.configuration
        if merged.any() and not torch.allclose(merged, self._fingerprint(), equal_nan=True):
            raise ValueError(
                "Expected all merged states to have the same configuration, but they differ."
            )
        examples = dim_zero_cat(self.examples) if len(self.examples) else self._no_examples()
        # `compute_on_cpu` keeps lists on the CPU.
        of_texts = [self._measures.index(name) for name in _OF_TEXTS]
        kept, differing = each_id_once(examples.to(self.total.device), of_texts)
        if differing:
            rank_zero_warn(
                f"{len(differing)} examples have the same id as another example but other texts (for example, id "
                f"{differing[0]}). They are not counted. Ids must be unique within an epoch, and the metric must be reset "
                "between epochs."
            )
        values = values_of(kept).view(-1, *self.total.shape)  # (n, l, m)
        if self.reduction == "mean":
            values = self._means(values)  # (l, m)
        by_layer = values.float().unbind(-2)  # (n, m) or (m,) each
        if self._returned is not None:
            return by_layer[0][..., self._measures.index(self._returned.name)]
        return {
            reported_name(measure, layer, self._layers): layer_values[
                ..., self._measures.index(measure)
            ]
            for layer, layer_values in zip(self._layers or (0,), by_layer, strict=True)
            for measure in self.config.reported_measures
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
        if self._returned is not None:
            axis.set_ylabel(f"ESTIME {self.measure}")  # type: ignore[union-attr]
        return figure, axis

    def _means(self, values: Tensor) -> Tensor:
        """The mean over the counted summaries and ``values``, (n, l, m), of `blank` the sum; warns
        if undefined.
        """
        count = self.count + (~values.isnan()).sum(0)
        returned = (
            self.config.reported_measures if self._returned is None else [self._returned.name]
        )
        pairs = int(count[0, self._measures.index("tokens")])  # their number is never undefined
        for measure in returned:
            undefined = pairs - int(count[0, self._measures.index(measure)])
            if undefined:
                rank_zero_warn(MEASURES[measure].warning(undefined, pairs))
        summed = self.total + values.nansum(0)
        means = summed / count
        blank = self._measures.index("blank")
        means[:, blank] = summed[:, blank]
        return means

    def _fingerprint(self) -> Tensor:
        """The bytes of a digest of whatever distinguishes states, (32,); NaN for a configuration
        with a function.
        """
        if callable(self.config.splitter) or callable(self.config.tagger):
            return torch.full_like(self.configuration, torch.nan)
        # The signature comes from the loaded encoder, because machines may have different commits of a
        # model.
        settings = repr((self.signature, self._layers, self._measures, self.reduction))
        digest = list(hashlib.sha256(settings.encode()).digest())
        return torch.tensor(digest, device="cpu").to(self.configuration)

    def __repr__(self) -> str:
        what = "return_dict=True" if self._returned is None else f"measure={self.measure!r}"
        return f"{type(self).__name__}({what}, {self.config.signature()})"

    def _no_examples(self) -> Tensor:
        return torch.empty(0, 1 + self.total.numel(), dtype=torch.float64, device=self.total.device)

    def _sync_dist(self, *args: Any, **kwargs: Any) -> None:
        if not len(self.examples):
            # A process without any participates with the same shape and dtype as the others. TorchMetrics 1.7 to
            # 1.9 lets it participate with an empty vector of float32, at which gloo aborts the process.
            self.examples = [self._no_examples()]
        super()._sync_dist(*args, **kwargs)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        if isinstance(self.examples, Tensor):
            # They were saved while synchronized, when the list is one tensor. TorchMetrics 1.7 to 1.9 leaves
            # it so, and then neither `update` nor `compute` works.
            self.examples = [self.examples]

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        wrapped = super()._wrap_compute(compute)

        @functools.wraps(compute)
        def computed(*args: Any, **kwargs: Any) -> Any:
            value = wrapped(*args, **kwargs)
            if self.reduction == "mean":
                return value
            # TorchMetrics 1.7 to 1.9 turns every tensor of one number into a scalar: the values of a single
            # example lose their axis.
            return (
                {k: v.reshape(-1) for k, v in value.items()}
                if isinstance(value, dict)
                else value.reshape(-1)
            )

        return computed

    def _apply(  # type: ignore[override]
        self,
        fn: Callable[[Tensor], Tensor],
        exclude_state: Sequence[str] = "",
        recurse: bool = True,
    ) -> Self:
        """Moves the states and the work; no call changes the dtype of the states. Those of the
        ``meta`` device, which have no content, become those of a metric without an update.

        That of TorchMetrics 1.7 to 1.9 casts the sums of a metric after ``set_dtype`` to lower precision,
        rejects the ``recurse`` of `torch.nn.Module.to_empty`, and leaves such states without content.
        """
        before = self.device

        def moved(tensor: Tensor) -> Tensor:
            target = fn(tensor.new_zeros(())).device
            if target.type == "mps":  # which has no float64
                return tensor
            return torch.zeros_like(tensor, device=target) if tensor.is_meta else tensor.to(target)

        super()._apply(moved, exclude_state)
        self._device = fn(torch.zeros(1, device=before)).device
        if self._device != before:
            self._scorer = None
            if before.type == "meta":
                self.reset()
        return self
