"""The page in Gradio: what stands where, and what calls what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from estime_metric.demo import page
from estime_metric.demo.encoders import CHOICES, Encoders, Setting
from estime_metric.demo.handlers import Handlers, read_examples
from estime_metric.demo.limits import RefusedError
from estime_metric.examples import PATH as EXAMPLES

#: Number of the example with which the page opens; with the one before it, the comparison does.
OPENING = 3

#: Requests that run at once. Explanations share the encoder batch by batch; a file never holds them up.
EXPLAINING, SCORING, LOADING = 2, 1, 1

#: Requests that wait; to any more the page says that it is busy.
WAITING = 30

#: Seconds: how often uploaded files and scores are looked through, and how old they grow.
CLEANING, AGE = 600, 1800

#: On a narrow page the result lies below the texts: brings it into view.
SHOW_RESULT = "() => { if (window.innerWidth < 900) document.querySelector('%s').scrollIntoView({block: 'start'}); }"

_SYSTEM_FONT = (
    "ui-sans-serif",
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "Roboto",
    "Helvetica Neue",
    "Arial",
    "sans-serif",
)
#: Shades around the colour in which explanations mark the best match.
_BLUE = gr.themes.Color(
    name="blue",
    c50="#eef6fb",
    c100="#d6e9f5",
    c200="#aed4ec",
    c300="#74bdf2",
    c400="#4a9fdb",
    c500="#1f80bd",
    c600="#0a669f",
    c700="#085483",
    c800="#0a456a",
    c900="#0d3a57",
    c950="#09253a",
)
_SYSTEM_MONO = ("ui-monospace", "SF Mono", "Menlo", "Consolas", "monospace")


def launch(models: Sequence[str] = CHOICES, **options: Any) -> None:
    """Starts the page and serves it until it is interrupted.

    Args:
        models: as `build`.
        options: as ``gradio.Blocks.launch`` takes them: ``server_name``, ``server_port``, ``inbrowser``.

    Raises:
        RefusedError: the first encoder cannot be had.
        OSError: the port is taken.
    """
    handlers = Handlers(Encoders(models))
    blocks = build(handlers).queue(max_size=WAITING, default_concurrency_limit=1, api_open=False)
    blocks.launch(
        theme=_theme(),
        head=page.HEAD,
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        max_file_size=handlers.encoders.limits.file_bytes,
        **options,
    )


def build(handlers: Handlers) -> gr.Blocks:
    """The page, opened with an example already explained.

    Raises:
        RefusedError: the first encoder cannot be had.
    """
    encoders = handlers.encoders
    first = encoders.facts(encoders.names[0])
    opening = Setting(first.name, "token", first.layer)
    with gr.Blocks(title="ESTIME", analytics_enabled=False, delete_cache=(CLEANING, AGE), fill_width=True) as blocks:
        _html(page.HEADER)
        with gr.Row(elem_id="settings"):
            model = gr.Dropdown(
                encoders.labels, value=first.name, label="Encoder", elem_id="model", filterable=False, min_width=220
            )
            unit = gr.Radio([("tokens", "token"), ("words", "word")], value="token", label="Unit", elem_id="unit")
            layer = gr.Slider(
                1, first.blocks, value=first.layer, step=1, label=_layer_label(first.layer), elem_id="layer"
            )
        setting = [model, unit, layer]
        selected, served = gr.State("explain"), gr.State(first.name)
        changes = [unit.input, layer.input]
        with gr.Tabs():
            with gr.Tab("Explain", id="explain") as explain_tab:
                explain = _explain_tab(handlers, setting, selected, opening, changes)
            with gr.Tab("Compare", id="compare") as compare_tab:
                compare = _compare_tab(handlers, setting, selected, opening, changes)
            with gr.Tab("Score a file", id="file") as file_tab:
                _file_tab(handlers, setting)
        with gr.Accordion("How to read this", open=False, elem_id="help"):
            _html(page.HELP)
        quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        explain(explain_tab.select(lambda: "explain", outputs=selected, **quiet).then)
        compare(compare_tab.select(lambda: "compare", outputs=selected, **quiet).then)
        file_tab.select(lambda: "file", outputs=selected, **quiet)
        switched = model.input(
            lambda name, before: _switch(encoders, name, before),
            [model, served],
            [model, layer, served],
            concurrency_limit=LOADING,
            concurrency_id="load",
            api_visibility="private",
        )
        explain(switched.success)
        compare(switched.success)
    return blocks


def _switch(encoders: Encoders, name: str, before: str) -> tuple[Any, Any, str]:
    """Loads the encoder that was chosen and fits the layers to it; back to the one before where it cannot be had."""
    try:
        facts = encoders.facts(name)
    except RefusedError as error:
        gr.Warning(str(error), duration=15)
        return gr.update(value=before), gr.skip(), before
    return gr.skip(), gr.update(maximum=facts.blocks, value=facts.layer, label=_layer_label(facts.layer)), name


def _explain_tab(
    handlers: Handlers, setting: list[Any], selected: gr.State, opening: Setting, changes: list[Any]
) -> Callable[[Any], None]:
    """One pair, explained. Returns what redraws it at a further event."""
    examples = read_examples()
    texts = list(zip(examples.sources, examples.summaries, strict=True))
    source, summary = texts[OPENING]
    with gr.Row(elem_classes="demo-columns"):
        with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
            labels = [
                (f"{others['verdict']}: {_beginning(text)}", number)
                for number, (text, others) in enumerate(zip(examples.summaries, examples.others, strict=True))
            ]
            example = gr.Dropdown(labels, value=OPENING, label="Example", elem_id="example", filterable=False)
            source_box = _text_box("Source", source, "source", lines=9)
            summary_box = _text_box("Summary", summary, "summary", lines=5)
            button = gr.Button("Explain", variant="primary", elem_id="explain")
        with gr.Column(scale=3, min_width=320):
            drawn = gr.State(opening)
            shown = _html(handlers.explain(source, summary, opening), elem_id="explained", min_height=300)

    def run(source: str | None, summary: str | None, *chosen: Any) -> tuple[str, Setting]:
        setting = _setting(*chosen)
        return handlers.explain(source or "", summary or "", setting), setting

    def redraw(selected: str, drawn: Setting, source: str | None, summary: str | None, *chosen: Any) -> Any:
        return gr.skip() if selected != "explain" or drawn == _setting(*chosen) else run(source, summary, *chosen)

    inputs, outputs = [source_box, summary_box, *setting], [shown, drawn]
    example.input(
        lambda number: texts[number], example, [source_box, summary_box], queue=False, api_visibility="private"
    ).then(run, inputs, outputs, **_sharing("explain", EXPLAINING))
    button.click(run, inputs, outputs, **_sharing("explain", EXPLAINING)).then(
        None, js=SHOW_RESULT % "#explained", api_visibility="private"
    )

    def redrawn_at(event: Any) -> None:
        event(redraw, [selected, drawn, *inputs], outputs, **_sharing("explain", EXPLAINING))

    for change in changes:
        change(
            redraw, [selected, drawn, *inputs], outputs, trigger_mode="always_last", **_sharing("explain", EXPLAINING)
        )
    return redrawn_at


def _compare_tab(
    handlers: Handlers, setting: list[Any], selected: gr.State, opening: Setting, changes: list[Any]
) -> Callable[[Any], None]:
    """Two summaries of one source side by side. Returns what redraws them at a further event."""
    examples = read_examples()
    summaries: dict[str, list[str]] = {}
    for text, summary in zip(examples.sources, examples.summaries, strict=True):
        summaries.setdefault(text, []).append(summary)
    texts = [(text, *some[:2]) for text, some in summaries.items()]
    source, first, second = texts[OPENING // 2]
    with gr.Row(elem_classes="demo-columns"):
        with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
            labels = [(_beginning(text), number) for number, (text, *_) in enumerate(texts)]
            example = gr.Dropdown(
                labels, value=OPENING // 2, label="Example", elem_id="compare-example", filterable=False
            )
            source_box = _text_box("Source", source, "compare-source", lines=6)
            first_box = _text_box("Summary A", first, "compare-a", lines=4)
            second_box = _text_box("Summary B", second, "compare-b", lines=4)
            button = gr.Button("Compare", variant="primary", elem_id="compare")
        with gr.Column(scale=3, min_width=320):
            drawn = gr.State(opening)
            opened = handlers.compare(source, first, second, opening)
            verdict = _html(opened[0], elem_id="verdict")
            with gr.Row():
                shown = [
                    _html(html, elem_id=f"compared-{name}", min_width=300)
                    for name, html in zip("ab", opened[1:], strict=True)
                ]

    def run(*given: Any) -> tuple[str, str, str, Setting]:
        setting = _setting(*given[3:])
        return *handlers.compare(given[0] or "", given[1] or "", given[2] or "", setting), setting

    def redraw(selected: str, drawn: Setting, *given: Any) -> Any:
        return gr.skip() if selected != "compare" or drawn == _setting(*given[3:]) else run(*given)

    inputs, outputs = [source_box, first_box, second_box, *setting], [verdict, *shown, drawn]
    example.input(
        lambda number: texts[number],
        example,
        [source_box, first_box, second_box],
        queue=False,
        api_visibility="private",
    ).then(run, inputs, outputs, **_sharing("explain", EXPLAINING))
    button.click(run, inputs, outputs, **_sharing("explain", EXPLAINING)).then(
        None, js=SHOW_RESULT % "#verdict", api_visibility="private"
    )

    def redrawn_at(event: Any) -> None:
        event(redraw, [selected, drawn, *inputs], outputs, **_sharing("explain", EXPLAINING))

    for change in changes:
        change(
            redraw, [selected, drawn, *inputs], outputs, trigger_mode="always_last", **_sharing("explain", EXPLAINING)
        )
    return redrawn_at


def _file_tab(handlers: Handlers, setting: list[Any]) -> None:
    """A file of pairs, scored, and its scores to take away."""
    limits = handlers.encoders.limits
    with gr.Row(elem_classes="demo-columns"):
        with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
            file = gr.File(label="CSV or JSON Lines", file_types=[".csv", ".jsonl"], elem_id="file", height=140)
            with gr.Row():
                source_column = gr.Textbox("source", label="Column of sources", elem_id="source-column", min_width=120)
                summary_column = gr.Textbox(
                    "summary", label="Column of summaries", elem_id="summary-column", min_width=120
                )
            with gr.Row():
                button = gr.Button("Score", variant="primary", elem_id="score", min_width=100)
                stop = gr.Button("Stop", elem_id="stop", min_width=100)
            example = gr.Button("Take the eight examples", size="sm", variant="secondary", elem_id="take-examples")
        with gr.Column(scale=3, min_width=320):
            download = gr.DownloadButton(
                "Download the scores", visible=False, variant="primary", size="md", elem_id="download"
            )
            shown = _html(page.empty_file(limits), elem_id="scored", min_height=200)

    def run(path: str | None, source: str | None, summary: str | None, *chosen: Any) -> Iterator[tuple[Any, Any]]:
        with TemporaryDirectory() as folder:  # what is yielded is copied to where it can be fetched
            for html, scores in handlers.score_file(path, source or "", summary or "", _setting(*chosen), Path(folder)):
                there = scores is not None
                yield html, gr.update(value=str(scores) if there else None, visible=there)

    scoring = button.click(
        run,
        [file, source_column, summary_column, *setting],
        [shown, download],
        show_progress="minimal",
        **_sharing("file", SCORING),
    )
    stop.click(page.stopped, None, shown, cancels=[scoring], queue=False, api_visibility="private")
    example.click(lambda: str(EXAMPLES), None, file, queue=False, api_visibility="private")


def _html(value: str, **options: Any) -> gr.HTML:
    """HTML that has its own style, not Gradio's for running text."""
    return gr.HTML(value, apply_default_css=False, **options)


def _text_box(label: str, value: str, name: str, lines: int) -> gr.Textbox:
    return gr.Textbox(
        value,
        label=label,
        elem_id=name,
        lines=lines,
        max_lines=lines,
        html_attributes=gr.InputHTMLAttributes(spellcheck=False),
    )


def _sharing(name: str, limit: int) -> dict[str, Any]:
    """Options of an event that shares its place in the queue with others of that name."""
    return {"concurrency_id": name, "concurrency_limit": limit, "api_visibility": "private"}


def _setting(model: str, unit: str, layer: float) -> Setting:
    return Setting(model, unit, int(layer))


def _layer_label(default: int) -> str:
    return f"Layer (default {default})"


def _beginning(text: str) -> str:
    return text[:60].rsplit(" ", 1)[0] + " \u2026"


def _theme() -> gr.themes.Base:
    """The colours of the explanations, and fonts that every machine has."""
    theme = gr.themes.Base(
        primary_hue=_BLUE,
        secondary_hue=_BLUE,
        neutral_hue=gr.themes.colors.gray,
        radius_size=gr.themes.sizes.radius_lg,
        font=_SYSTEM_FONT,
        font_mono=_SYSTEM_MONO,
    )
    return theme.set(
        body_background_fill="#faf8f5",
        body_background_fill_dark="#15171b",
        body_text_color="#20242c",
        body_text_color_dark="#e9e7e2",
        body_text_color_subdued="#5a616e",
        body_text_color_subdued_dark="#a4abb8",
        block_background_fill="#ffffff",
        block_background_fill_dark="#1c1f25",
        block_label_text_color="#5a616e",
        block_label_text_color_dark="#a4abb8",
        block_title_text_color="#5a616e",
        block_title_text_color_dark="#a4abb8",
        border_color_primary="#e5e1d9",
        border_color_primary_dark="#333841",
        input_background_fill="#faf8f5",
        input_background_fill_dark="#15171b",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_hover_dark="*primary_700",
        button_primary_text_color="#ffffff",
        button_secondary_background_fill="#efebe4",
        button_secondary_background_fill_dark="#2b3038",
        slider_color="*primary_600",
        slider_color_dark="*primary_400",
        color_accent="*primary_600",
        link_text_color="*primary_600",
        link_text_color_dark="*primary_300",
    )
