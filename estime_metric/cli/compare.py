"""``estime compare``: which of two summarizers is more consistent with the same sources?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from estime_metric.cli import options, score, tables

if TYPE_CHECKING:
    from estime_metric.meta import PairedTest

#: Measures that can be compared, and whether higher is better.
HIGHER_IS_BETTER = {
    "alarms": False,
    "alarm_rate": False,
    "alarms_adjusted": False,
    "winners": False,
    "alarms_alltokens": False,
    "soft": True,
    "coherence": True,
}

#: What a p-value has to stay below to be called a difference.
LEVEL = 0.05

#: Rows without a partner that are named before they are only counted.
NAMED = 10


@dataclass(frozen=True)
class Comparison:
    """One measure of both summarizers over the matched examples."""

    measure: str
    mean_a: float
    mean_b: float
    wins_a: int
    ties: int
    wins_b: int
    bootstrap: PairedTest
    randomization: PairedTest

    @property
    def better(self) -> str | None:
        """``A``, ``B``, or ``None`` where approximate randomisation finds no difference."""
        if self.randomization.p_value >= LEVEL:
            return None
        return "A" if (self.mean_a > self.mean_b) == _higher(self.measure) else "B"


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Scores that 'estime score -o' wrote, or pairs to be scored.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Likewise, of the other summarizer for the same sources.")],
    id_column: Annotated[
        str | None,
        typer.Option(help="Column that says which rows belong together. (default: the source text, or else 'id')"),
    ] = None,
    measure: Annotated[
        str, typer.Option(metavar="NAME[,NAME...]", help=f"What is compared: {', '.join(HIGHER_IS_BETTER)}.")
    ] = "alarms,alarm_rate",
    n: Annotated[int, typer.Option("-n", help="Number of resamples and of random swaps.")] = 10_000,
    confidence: Annotated[float, typer.Option(help="Share of the resamples within an interval.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the numbers to a .jsonl or .csv file, a row a measure.")
    ] = None,
    source_column: Annotated[str, typer.Option(help="Column of the sources.")] = "source",
    summary_column: Annotated[str, typer.Option(help="Column of the summaries.")] = "summary",
    model: options.Model = None,
    revision: options.Revision = None,
    layers: options.Layers = None,
    unit: options.Unit = None,
    window: options.Window = None,
    margin: options.Margin = None,
    distance: options.Distance = None,
    normalize: options.Normalize = False,
    measures: options.Measures = None,
    soft_model: options.SoftModel = None,
    splitter: options.Splitter = None,
    tagger: options.Tagger = None,
    drop_tags: options.DropTags = None,
    dtype: options.Dtype = None,
    device: options.Device = None,
    token_budget: options.TokenBudget = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Which of two summarizers is more consistent? Means, wins, interval and p-values over the same sources.

    Scored files are taken as they are; the options of the measure are for pairs that are scored now. Both sides have to
    carry the same signature. Exit status: 0, all rows were compared; 1, some had no partner or could not be read; 2,
    nothing was compared.
    """
    given: dict[str, Any] = {
        "model": model,
        "revision": revision,
        "layers": options.parse_layers(layers),
        "unit": unit,
        "window": window,
        "margin": margin,
        "distance": distance,
        "normalize": normalize,
        "measures": options.parse_names(measures),
        "soft_model": soft_model,
        "splitter": splitter,
        "tagger": tagger,
        "drop_tags": options.parse_names(drop_tags),
        "dtype": dtype,
        "device": device,
        "token_budget": token_budget,
    }
    given = {name: value for name, value in given.items() if value is not None}
    try:
        if output is not None:
            tables.check_writable(output)
        asked = options.parse_names(measure) or ()
        for name in asked:
            _higher(name)
        sides, problems = _sides((a, b), source_column, summary_column, given, not quiet)
        signature = _signature(sides, (a, b))
        keys = _keys(sides, (a, b), id_column, source_column)
        matched = [key for key in keys[0] if key in keys[1]]
        problems += _unmatched(keys, (a, b))
        if not matched:
            raise ValueError(f"Expected {a.name} and {b.name} to have examples in common, but there is none.")
        rows = [[keys[side][key] for key in matched] for side in (0, 1)]
        found = [_compared(name, rows, n, confidence, seed) for name in _columns(asked, rows, (a, b))]
    except (ValueError, TypeError, OSError, ImportError) as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        raise typer.Exit(2) from error
    for problem in problems:
        typer.secho(problem, fg="yellow", err=True)
    if output is not None:
        tables.write_rows(output, [_row(each, len(matched), signature) for each in found])
    if str(output) != "-":
        _print(found, (a, b), rows, confidence, signature)
    if problems:
        raise typer.Exit(1)


def _sides(
    paths: tuple[Path, Path], source_column: str, summary_column: str, given: dict[str, Any], progress: bool
) -> tuple[list[list[tables.Row]], list[str]]:
    """The rows of both files, scored now where they are not yet, and what could not be read."""
    sides: list[list[tables.Row]] = []
    problems: list[str] = []
    waiting: dict[int, tables.Pairs] = {}
    for place, path in enumerate(paths):
        rows = [(line, row) for line, row in tables.read_rows(path)]
        scored = [row for _, row in rows if isinstance(row, dict) and "signature" in row]
        sides.append([])
        if scored:
            sides[place] = scored
            problems += [
                f"{path.name} line {line}: {row if isinstance(row, str) else 'has no signature'}"
                for line, row in rows
                if isinstance(row, str) or "signature" not in row
            ]
        else:
            waiting[place] = pairs = tables.read_pairs(path, source_column, summary_column)
            problems += [f"{path.name} {problem}" for problem in pairs.problems]
            if not pairs.lines:
                listed = "; ".join(pairs.problems[:1])
                raise ValueError(
                    f"Expected {path.name} to hold scores or pairs, but it holds neither. {listed}".strip()
                )
    if waiting:
        from estime_metric.scorer import EstimeScorer  # brings torch, which takes its time

        scorer = EstimeScorer(**given)
        summaries = [summary for pairs in waiting.values() for summary in pairs.summaries]
        sources = [source for pairs in waiting.values() for source in pairs.sources]
        result = scorer.score(summaries, sources, progress=progress)
        both = tables.Pairs(
            [line for pairs in waiting.values() for line in pairs.lines],
            sources,
            summaries,
            [
                {**others, source_column: source}
                for pairs in waiting.values()
                for others, source in zip(pairs.others, pairs.sources, strict=True)
            ],
        )
        rows_now = iter(score.rows(both, result))
        for place, pairs in waiting.items():
            sides[place] = [next(rows_now) for _ in pairs.lines]
    return sides, problems


def _signature(sides: list[list[tables.Row]], paths: tuple[Path, Path]) -> str:
    """The one signature of all rows."""
    found = [list(dict.fromkeys(str(row["signature"]) for row in rows)) for rows in sides]
    for signatures, path in zip(found, paths, strict=True):
        if len(signatures) > 1:
            raise ValueError(f"Expected {path.name} to carry one signature, but it has {' and '.join(signatures[:2])}.")
    if found[0] != found[1]:
        raise ValueError(
            f"Expected both files to carry one signature, since other settings give other numbers, "
            f"but got\n  {paths[0].name}: {found[0][0]}\n  {paths[1].name}: {found[1][0]}"
        )
    return found[0][0]


def _keys(
    sides: list[list[tables.Row]], paths: tuple[Path, Path], id_column: str | None, source_column: str
) -> list[dict[str, tables.Row]]:
    """The rows of each side by what identifies them."""
    column = id_column or next(
        (name for name in (source_column, "id") if all(name in row for rows in sides for row in rows)), None
    )
    if column is None:
        raise ValueError(
            f"Expected a column {source_column!r} or 'id' in both files, to tell which rows belong together: "
            "name another with --id-column ('line' is the line that a pair had when it was scored)."
        )
    keys: list[dict[str, tables.Row]] = []
    for rows, path in zip(sides, paths, strict=True):
        side: dict[str, tables.Row] = {}
        for row in rows:
            key = str(row.get(column) if row.get(column) is not None else "")
            if not key:
                raise ValueError(f"Expected column {column!r} in each row of {path.name}, but not in {_named(row)}.")
            if key in side:
                raise ValueError(
                    f"Expected column {column!r} to identify the rows of {path.name}, but {_short(key)!r} comes twice: "
                    "name another with --id-column."
                )
            side[key] = row
        keys.append(side)
    return keys


def _unmatched(keys: list[dict[str, tables.Row]], paths: tuple[Path, Path]) -> list[str]:
    """One sentence for each row without a partner, up to a number."""
    problems = []
    for own, other, path, partner in ((keys[0], keys[1], *paths), (keys[1], keys[0], *paths[::-1])):
        alone = [key for key in own if key not in other]
        problems += [f"{path.name}: no partner in {partner.name} for {_short(key)!r}" for key in alone[:NAMED]]
        if len(alone) > NAMED:
            problems.append(f"{path.name}: no partner in {partner.name} for {len(alone) - NAMED} more")
    return problems


def _columns(asked: tuple[str, ...], rows: list[list[tables.Row]], paths: tuple[Path, Path]) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms@12`` and so on where several layers were read."""
    found = []
    for name in asked:
        columns = [column for column in rows[0][0] if column == name or column.startswith(f"{name}@")]
        if not columns:
            raise ValueError(
                f"Expected a column {name!r} in {paths[0].name}, but its columns are {', '.join(rows[0][0])}."
            )
        found += columns
    return found


def _compared(measure: str, rows: list[list[tables.Row]], n: int, confidence: float, seed: int) -> Comparison:
    from estime_metric.meta.paired import approximate_randomization, paired_bootstrap

    a, b = ([_number(row, measure) for row in side] for side in rows)
    sign = 1 if _higher(measure) else -1
    return Comparison(
        measure,
        math.fsum(a) / len(a),
        math.fsum(b) / len(b),
        sum(sign * x > sign * y for x, y in zip(a, b, strict=True)),
        sum(x == y for x, y in zip(a, b, strict=True)),
        sum(sign * x < sign * y for x, y in zip(a, b, strict=True)),
        paired_bootstrap(a, b, n=n, confidence=confidence, seed=seed),
        approximate_randomization(a, b, n=n, seed=seed),
    )


def _number(row: tables.Row, measure: str) -> float:
    try:
        return float(row[measure])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"Expected a number in column {measure!r}, but got {row.get(measure)!r} in {_named(row)}."
        ) from error


def _higher(measure: str) -> bool:
    base = measure.split("@")[0]
    if base not in HIGHER_IS_BETTER:
        listed = ", ".join(HIGHER_IS_BETTER)
        raise ValueError(f"Expected --measure to name some of {listed}, but got {measure!r}.")
    return HIGHER_IS_BETTER[base]


def _named(row: tables.Row) -> str:
    return f"line {row.get('line', '?')}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _row(found: Comparison, examples: int, signature: str) -> tables.Row:
    return {
        "measure": found.measure,
        "examples": examples,
        "mean_a": found.mean_a,
        "mean_b": found.mean_b,
        "difference": found.bootstrap.difference,
        "low": found.bootstrap.low,
        "high": found.bootstrap.high,
        "p_bootstrap": found.bootstrap.p_value,
        "p_randomization": found.randomization.p_value,
        "a_better": found.wins_a,
        "ties": found.ties,
        "b_better": found.wins_b,
        "better": found.better,
        "signature": signature,
    }


def _print(
    found: list[Comparison], paths: tuple[Path, Path], rows: list[list[tables.Row]], confidence: float, signature: str
) -> None:
    console = Console()
    for letter, path, side in zip("AB", paths, rows, strict=True):
        tokens = [float(row["tokens"]) for row in side if "tokens" in row]
        length = f", {sum(tokens) / len(tokens):.1f} tokens a summary" if tokens else ""
        console.print(Text(f"{letter}  {path}  ({len(side)} summaries{length})"), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("measure", no_wrap=True)
    for name in ("A", "B", "A - B", f"{confidence:.0%} interval", "p boot.", "p rand.", "A better", "ties", "B better"):
        table.add_column(name, justify="right")
    for each in found:
        bold = {"A": 0, "B": 1}.get(each.better or "")
        means = [
            Text(f"{mean:.4g}", style="bold green" if place == bold else "")
            for place, mean in enumerate((each.mean_a, each.mean_b))
        ]
        table.add_row(
            each.measure,
            *means,
            f"{each.bootstrap.difference:+.4g}",
            f"[{each.bootstrap.low:+.4g},{each.bootstrap.high:+.4g}]",
            _p(each.bootstrap.p_value),
            _p(each.randomization.p_value),
            *map(str, (each.wins_a, each.ties, each.wins_b)),
        )
    console.print(table)
    for each in found:
        direction = "higher" if _higher(each.measure) else "lower"
        if each.better is None:
            verdict = f"no difference at the level {LEVEL} (p = {_p(each.randomization.p_value)})"
        else:
            verdict = f"{each.better} is better (p = {_p(each.randomization.p_value)})"
        console.print(Text(f"{each.measure} ({direction} is better): {verdict}"))
    console.print(Text(signature), soft_wrap=True)


def _p(value: float) -> str:
    return "<.0001" if value < 1e-4 else f"{value:.4f}"[1:] if value < 1 else "1"
