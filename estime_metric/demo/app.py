"""The page in Gradio: its layout, and which event calls which handler."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from estime_metric.demo import page
from estime_metric.demo.encoders import CHOICES, Encoders, Setting
from estime_metric.demo.handlers import Handlers
from estime_metric.demo.limits import Limits
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.files import WRITABLE, read_pairs

#: Index of the example with which the page opens; the comparison opens with it and the one before.
OPENING = 3

#: Requests that run at once. Explanations share the encoder batch by batch and never wait for a
#: file.
EXPLAINING, SCORING, LOADING = 4, 1, 1

#: Label of the slider, with the encoder's default.
LAYER = "Layer (default %d)"

#: Requests that wait; further ones are told that the page is busy.
WAITING = 30

#: Seconds: how often old uploads and scores are deleted, and from what age.
CLEANING, AGE = 600, 1800

#: On a narrow page the result lies below the texts: brings it into view.
SHOW_RESULT = "() => { if (window.innerWidth < 900) document.getElementById('%s').scrollIntoView({block: 'start'}); }"

#: The pairs that ship with the package.
_EXAMPLES = read_pairs(EXAMPLES)

#: Options of an event that takes no time.
_INSTANT: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}

_SYSTEM_FONT = (
    "ui-sans-serif",
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "Roboto",
    "Helvetica Neue",
    "Arial",
)

#: Shades around the colour in which explanations mark the best match.
_BLUE = gr.themes.Color(
    *("#eef6fb", "#d6e9f5", "#aed4ec", "#74bdf2", "#4a9fdb", "#1f80bd"),
    *("#0a669f", "#085483", "#0a456a", "#0d3a57", "#09253a"),
    name="blue",
)

#: variable of the theme -> its colours on a light and on a dark page
_COLOURS = {
    "body_background_fill": ("#faf8f5", "#15171b"),
    "body_text_color": ("#20242c", "#e9e7e2"),
    "body_text_color_subdued": ("#5a616e", "#a4abb8"),
    "block_background_fill": ("#ffffff", "#1c1f25"),
    "block_label_text_color": ("#5a616e", "#a4abb8"),
    "block_title_text_color": ("#5a616e", "#a4abb8"),
    "border_color_primary": ("#e5e1d9", "#333841"),
    "input_background_fill": ("#faf8f5", "#15171b"),
    "button_primary_background_fill": ("*primary_600", "*primary_600"),
    "button_primary_background_fill_hover": ("*primary_700", "*primary_700"),
    "button_secondary_background_fill": ("#efebe4", "#2b3038"),
    "slider_color": ("*primary_600", "*primary_400"),
    "link_text_color": ("*primary_600", "*primary_300"),
}


def launch(
    models: Sequence[str] = CHOICES,
    *,
    limits: Limits | None = None,
    any_model: bool = False,
    **options: Any,
) -> None:
    """Serves the page until it is interrupted.

    Args:
        models: the encoders on offer, as `EstimeConfig.model`; the page opens with the first.
        limits: what one request may ask for.
        any_model: whether visitors may name other encoders too. Leave it off on a public page.
        options: of ``gradio.Blocks.launch``, such as ``server_name``, ``server_port``,
            ``inbrowser``.

    Raises:
        RefusedError: the first encoder cannot be loaded.
        OSError: the port is taken.
    """
    handlers = Handlers(Encoders(models, limits, any_model))
    blocks = build(handlers).queue(max_size=WAITING, default_concurrency_limit=1, api_open=False)
    blocks.launch(
        theme=_theme(),
        head=page.HEAD,
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        max_file_size=handlers.encoders.limits.max_file_bytes,
        prevent_thread_lock=True,
        **options,
    )
    sys.stdout.flush()  # the address, also where the output is no screen
    blocks.block_thread()


def build(handlers: Handlers) -> gr.Blocks:
    """The page, opened with an example already explained.

    Raises:
        RefusedError: the first encoder cannot be loaded.
    """
    encoders = handlers.encoders
    first = encoders.info(encoders.names[0])
    opening = Setting(first.name, "token", first.layer)
    blocks = gr.Blocks(
        title="ESTIME", analytics_enabled=False, delete_cache=(CLEANING, AGE), fill_width=True
    )
    with blocks:
        _html(page.asset("header.html"))
        with gr.Row(elem_id="settings"):
            model = gr.Dropdown(
                encoders.labels,
                value=first.name,
                label="Encoder (any name from the Hub, or a folder)"
                if encoders.any_name
                else "Encoder",
                elem_id="model",
                filterable=encoders.any_name,
                allow_custom_value=encoders.any_name,
                min_width=220,
            )
            unit = gr.Radio(
                [("tokens", "token"), ("words", "word")],
                value="token",
                label="Unit",
                elem_id="unit",
            )
            layer = gr.Slider(
                1, first.blocks, first.layer, step=1, label=LAYER % first.layer, elem_id="layer"
            )
        setting = [model, unit, layer]
        selected, served = gr.State("explain"), gr.State(first.name)
        redrawn = []
        with gr.Tabs():
            for name, label, fill in (
                ("explain", "Explain", _explain_tab),
                ("compare", "Compare", _compare_tab),
            ):
                with gr.Tab(label, id=name) as tab:
                    at = fill(handlers, setting, selected, opening)
                redrawn.append(
                    (at, tab.select(lambda name=name: name, outputs=selected, **_INSTANT))
                )
            with gr.Tab("Score a file", id="file") as tab:
                _file_tab(handlers, setting)
            tab.select(lambda: "file", outputs=selected, **_INSTANT)
        with gr.Accordion("How to read this", open=False, elem_id="help"):
            _html(page.asset("help.html"))
        switched = model.change(
            lambda *given: _switch(encoders, *given),
            [model, served],
            [model, layer, served],
            **_sharing("load", LOADING),
        )
        for at, shown in redrawn:
            for change in (unit.input, layer.input):
                at(change, trigger_mode="always_last")
            at(shown.then)
            at(switched.success)
    return blocks


def _switch(encoders: Encoders, name: str | None, before: str) -> tuple[Any, Any, str]:
    """Loads the chosen encoder and sets the range of layers; returns to the one before if it cannot
    be loaded.
    """
    try:
        name = (name or "").strip()
        if name == before:  # set by this function itself
            return gr.skip(), gr.skip(), before
        info = encoders.info(name)
    except ValueError as error:
        gr.Warning(page.with_code(str(error)), duration=15, title="Not available")
        return gr.update(value=before), gr.skip(), before
    layers = gr.update(maximum=info.blocks, value=info.layer, label=LAYER % info.layer)
    return gr.update(value=info.name), layers, info.name


def _explain_tab(
    handlers: Handlers, setting: list[Any], selected: gr.State, opening: Setting
) -> Callable[..., None]:
    """One pair, explained. Returns a function that adds an event at which it is redrawn."""
    texts = list(zip(_EXAMPLES.sources, _EXAMPLES.summaries, strict=True))
    source, summary = texts[OPENING]
    pairs = zip(_EXAMPLES.summaries, _EXAMPLES.others, strict=True)
    labels = [f"{others['verdict']}: {_beginning(text)}" for text, others in pairs]
    with gr.Row(elem_classes="demo-columns"):
        with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
            example = _examples(labels, OPENING, "example")
            boxes = [
                _text_box("Source", source, "source", 9),
                _text_box("Summary", summary, "summary", 5),
            ]
            button = gr.Button("Explain", variant="primary", elem_id="explain")
        with gr.Column(scale=3, min_width=320):
            explained, drawable = handlers.explain(source, summary, opening)
            shown = _html(explained, elem_id="explained", min_height=300)
            with gr.Accordion(
                "Plot of the matches", open=False, elem_id="picture", visible=drawable
            ) as accordion:
                picture = _html("", elem_id="drawn", min_height=200)
    opened = gr.State(False)  # the plot is drawn only while it is seen

    def run(opened: bool, source: str | None, summary: str | None, *chosen: Any) -> tuple[Any, ...]:
        given = source or "", summary or "", _setting(*chosen)
        explained, drawable = handlers.explain(*given)
        return (
            explained,
            handlers.draw(*given) if opened and drawable else "",
            gr.update(visible=drawable),
        )

    def draw(source: str | None, summary: str | None, *chosen: Any) -> str:
        return handlers.draw(source or "", summary or "", _setting(*chosen))

    accordion.expand(lambda: True, None, opened, **_INSTANT).then(
        draw, [*boxes, *setting], picture, **_sharing("explain", EXPLAINING)
    )
    accordion.collapse(lambda: False, None, opened, **_INSTANT)
    starts = [
        example.select(lambda number: texts[number], example, boxes, **_INSTANT).then,
        button.click,
    ]
    shows = [shown, picture, accordion]
    return _connect("explain", run, [opened, *boxes], setting, shows, opening, selected, starts)


def _compare_tab(
    handlers: Handlers, setting: list[Any], selected: gr.State, opening: Setting
) -> Callable[..., None]:
    """Two summaries of one source. Returns a function that adds an event at which they are redrawn."""
    summaries: dict[str, list[str]] = {}
    for text, summary in zip(_EXAMPLES.sources, _EXAMPLES.summaries, strict=True):
        summaries.setdefault(text, []).append(summary)
    texts = [(text, *some[:2]) for text, some in summaries.items()]
    source, first, second = texts[OPENING // 2]
    with gr.Row(elem_classes="demo-columns"):
        with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
            example = _examples(
                [_beginning(text) for text in summaries], OPENING // 2, "compare-example"
            )
            boxes = [
                _text_box("Source", source, "compare-source", 6),
                _text_box("Summary A", first, "compare-a", 4),
                _text_box("Summary B", second, "compare-b", 4),
            ]
            button = gr.Button("Compare", variant="primary", elem_id="compare")
        with gr.Column(scale=3, min_width=320):
            verdict, compared = handlers.compare(source, first, second, opening)
            shown = [
                _html(verdict, elem_id="verdict"),
                _html(compared, elem_id="compared", min_height=300),
            ]

    def run(
        source: str | None, first: str | None, second: str | None, *chosen: Any
    ) -> tuple[str, str]:
        return handlers.compare(source or "", first or "", second or "", _setting(*chosen))

    starts = [
        example.select(lambda number: texts[number], example, boxes, **_INSTANT).then,
        button.click,
    ]
    return _connect("compare", run, boxes, setting, shown, opening, selected, starts)


def _connect(
    tab: str,
    run: Callable[..., tuple[Any, ...]],
    given: list[Any],
    setting: list[Any],
    shown: list[Any],
    opening: Setting,
    selected: gr.State,
    starts: list[Any],
) -> Callable[..., None]:
    """Runs a tab at its own events. Returns a function that adds an event which redraws the tab if
    it is selected and the setting has changed."""
    drawn = gr.State(opening)  # the setting of what is shown
    inputs, outputs = [*given, *setting], [*shown, drawn]

    def always(*values: Any) -> tuple[Any, ...]:
        return *run(*values), _setting(*values[-len(setting) :])

    def if_changed(selected: str, before: Setting, *values: Any) -> Any:
        same = before == _setting(*values[-len(setting) :])
        return gr.skip() if selected != tab or same else always(*values)

    def at(event: Any, **options: Any) -> None:
        event(
            if_changed,
            [selected, drawn, *inputs],
            outputs,
            **_sharing("explain", EXPLAINING),
            **options,
        )

    for start in starts:
        start(always, inputs, outputs, **_sharing("explain", EXPLAINING)).then(
            None, js=SHOW_RESULT % shown[0].elem_id, api_visibility="private"
        )
    return at


def _file_tab(handlers: Handlers, setting: list[Any]) -> None:
    """A file of pairs, and the download of its scores."""
    limits = handlers.encoders.limits
    with gr.Row(elem_classes="demo-columns"):
        with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
            file = gr.File(
                label="JSON Lines, CSV or Parquet",
                file_types=list(WRITABLE),
                elem_id="file",
                height=180,
            )
            with gr.Row():
                source_column = gr.Textbox(
                    "source", label="Source column", elem_id="source-column", min_width=120
                )
                summary_column = gr.Textbox(
                    "summary", label="Summary column", elem_id="summary-column", min_width=120
                )
            with gr.Row():
                button = gr.Button("Score", variant="primary", elem_id="score", min_width=100)
                stop = gr.Button("Stop", elem_id="stop", min_width=100)
            example = gr.Button(
                "Take the eight examples", size="sm", variant="secondary", elem_id="take-examples"
            )
        with gr.Column(scale=3, min_width=320):
            label = "Download the scores"
            download = gr.DownloadButton(
                label, visible=False, variant="primary", size="md", elem_id="download"
            )
            shown = _html(page.render("empty", limits=limits), elem_id="scored", min_height=200)

    def run(
        path: str | None, source: str | None, summary: str | None, *chosen: Any
    ) -> Iterator[tuple[Any, Any]]:
        with TemporaryDirectory() as folder:  # what is yielded is copied to where it can be fetched
            for html, scores in handlers.score_file(
                path, source or "", summary or "", _setting(*chosen), Path(folder)
            ):
                there = scores is not None
                yield html, gr.update(value=str(scores) if there else None, visible=there)

    inputs, options = [file, source_column, summary_column, *setting], _sharing("file", SCORING)
    scoring = button.click(run, inputs, [shown, download], show_progress="minimal", **options)
    stop.click(
        lambda: page.notice("Stopped."),
        None,
        shown,
        cancels=[scoring],
        queue=False,
        api_visibility="private",
    )
    example.click(lambda: str(EXAMPLES), None, file, queue=False, api_visibility="private")


def _html(value: str, **options: Any) -> gr.HTML:
    """HTML that has its own style, not Gradio's for running text."""
    return gr.HTML(value, apply_default_css=False, **options)


def _examples(labels: Sequence[str], number: int, name: str) -> gr.Dropdown:
    """A choice of examples by their numbers."""
    choices = [(label, index) for index, label in enumerate(labels)]
    return gr.Dropdown(choices, value=number, label="Example", elem_id=name, filterable=False)


def _text_box(label: str, value: str, name: str, lines: int) -> gr.Textbox:
    attributes = gr.InputHTMLAttributes(spellcheck=False)
    return gr.Textbox(
        value, label=label, elem_id=name, lines=lines, max_lines=lines, html_attributes=attributes
    )


def _sharing(name: str, limit: int) -> dict[str, Any]:
    """Options of an event that shares a queue with others of that name."""
    return {"concurrency_id": name, "concurrency_limit": limit, "api_visibility": "private"}


def _setting(model: str, unit: str, layer: float) -> Setting:
    return Setting(model, unit, int(layer))


def _beginning(text: str) -> str:
    return text[:60].rsplit(" ", 1)[0] + " \u2026"


def _theme() -> gr.themes.Base:
    """Gradio's own components in the colours of the explanations, with fonts that every machine
    has.
    """
    theme = gr.themes.Base(
        primary_hue=_BLUE,
        secondary_hue=_BLUE,
        neutral_hue=gr.themes.colors.gray,
        radius_size=gr.themes.sizes.radius_lg,
        font=(*_SYSTEM_FONT, "sans-serif"),
        font_mono=("ui-monospace", "SF Mono", "Menlo", "Consolas", "monospace"),
    )
    both = {
        f"{name}{mode}": of[i]
        for name, of in _COLOURS.items()
        for i, mode in enumerate(("", "_dark"))
    }
    return theme.set(**both, button_primary_text_color="#ffffff", color_accent="*primary_600")
