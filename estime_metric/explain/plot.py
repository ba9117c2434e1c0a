"""Explanations as a plot: the position in the source of each summary word's best match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from estime_metric.explain import wording
from estime_metric.explanation import Explanation, UnitVerdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colors that color-blind readers can distinguish; the marks differ in shape too.
_ALARM, _MATCH, _QUIET = "#b5410a", "#0a669f", "#7a808b"

LABELED = 80  # with more words than this, the words are not written along the axis


def plot_alarms(explanation: Explanation, *, title: str | None = None) -> Figure:
    """Draws each word of the summary, from left to right, at the height of its best match in the
    source.

    A summary that follows its source is a rising line, which is what the measure ``coherence``
    quantifies. Dots are matches; crosses are alarms, each with a thin line to a ring at the closest
    occurrence of the same word; squares are words that do not occur in the source. The larger the
    graded alarm of a word, the stronger its cross and its name. A pair with nothing to match gives
    empty axes. By default ``title`` states the counts.

    Returns:
        A figure that belongs to no window: save it with ``savefig``.

    Raises:
        ImportError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'estime-metric[meta]'.") from error
    words = explanation.words
    figure = Figure(figsize=(min(14.0, max(6.4, 0.19 * len(words))), 5.0), layout="constrained")
    axes = figure.add_subplot()
    if title is None:
        title = f"{explanation.alarms} alarms of {explanation.overlap} {explanation.unit}s checked"
    axes.set_title(_drawable(title), loc="left", parse_math=False)
    _draw(axes, explanation)
    axes.set_xlabel("summary, word by word")
    axes.set_ylabel("position in the source (character)")
    axes.set_xlim(-1, max(1, len(words)))
    axes.set_ylim(-0.03 * len(explanation.source) - 1, 1.03 * len(explanation.source) + 1)
    axes.grid(color="#e5e1d9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    _write_words(axes, explanation)
    if axes.collections:
        figure.legend(loc="outside upper right", ncols=4, frameon=False, fontsize="small")
    return figure


def _draw(axes: Axes, explanation: Explanation) -> None:
    from matplotlib.colors import to_rgba

    words = explanation.words
    for verdict, label, marker, size, color in (
        ("absent", "not in the source", "s", 40, _ALARM),
        ("match", "match", "o", 30, _MATCH),
        ("alarm", "alarm", "X", 62, _ALARM),
    ):
        shown = [(x, word) for x, word in enumerate(words) if word.verdict == verdict and word.best]
        if shown:
            axes.scatter(
                [x for x, _ in shown],
                [word.best.start for _, word in shown if word.best],
                label=label,
                marker=marker,
                s=size,
                color=[
                    to_rgba(color, 1.0 if verdict == "match" else _alpha(word)) for _, word in shown
                ],
                linewidths=0,
                zorder=3,
            )
    alarms = [(x, word) for x, word in enumerate(words) if word.verdict == "alarm"]
    if own := [
        (x, word.best.start, word.same.start) for x, word in alarms if word.best and word.same
    ]:
        xs, best, same = zip(*own, strict=True)
        axes.vlines(xs, best, same, color=_ALARM, linewidth=0.7, alpha=0.45, zorder=1)
        ring: dict[str, Any] = {"marker": "o", "s": 26, "facecolors": "white", "edgecolors": _QUIET}
        axes.scatter(xs, same, **ring, zorder=2, label="alarm's same word")


def _write_words(axes: Axes, explanation: Explanation) -> None:
    """The words along the axis, in the color of their marks; only their numbers if there are many."""
    words = explanation.words
    if not 0 < len(words) <= LABELED:
        return
    labels = [
        _drawable(" ".join(explanation.prediction[word.start : word.end].split())[:24])
        for word in words
    ]
    axes.set_xticks(range(len(words)), labels, rotation=90, fontsize=8, parse_math=False)
    for word, label in zip(words, axes.get_xticklabels(), strict=True):
        if wording.strength(word):
            label.set(color=_ALARM, alpha=_alpha(word), fontweight="bold")


def _alpha(word: UnitVerdict) -> float:
    return 0.35 + 0.65 * wording.strength(word)


def _drawable(text: str) -> str:
    """A text with an empty box for each character that the font lacks."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known = get_font(findfont(FontProperties())).get_charmap()
    return "".join(char if ord(char) in known else "\u25af" for char in text)
