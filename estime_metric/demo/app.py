"""The page in Gradio: its layout, and which event calls which handler.

An event passes the values of components by the component, and gets those to show alike: a function
reads and returns a dictionary (`Values`), never a row of positions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from estime_metric.demo import page
from estime_metric.demo.encoders import CHOICES, Encoders, Setting
from estime_metric.demo.handlers import UPLOADS, Handlers
from estime_metric.demo.limits import Limits
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.files import read_pairs

#: component -> its value, or an update of it
Values = dict[Any, Any]

#: Index of the example with which the page opens; the comparison opens with the same source.
OPENING = 3

#: Requests that run at the same time. Explanations share the encoder batch by batch and never wait
#: for a file.
EXPLAINING, SCORING, LOADING = 4, 1, 1

#: Label of the slider, with the encoder's default.
LAYER = "Layer (default %d)"

#: Requests that wait; visitors of further ones read that the page is busy.
WAITING = 30

#: Seconds: how often old uploads and scores are deleted, and from what age.
CLEANING, AGE = 600, 1800

#: On a narrow page the result is below the texts: brings it into view.
SHOW_RESULT = "() => { if (window.innerWidth < 900) document.getElementById('%s').scrollIntoView({block: 'start'}); }"

#: The bundled pairs.
_EXAMPLES = read_pairs(EXAMPLES)

#: Options of an event that is handled immediately.
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

#: Shades around the color in which explanations mark the best match.
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

#: variable of the theme -> its colors on a light and on a dark page
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
        OSError: the port is in use.
    """
    handlers = Handlers(Encoders(models, limits, any_model))
    blocks = build(handlers)
    blocks.queue(max_size=WAITING, default_concurrency_limit=1, api_open=False)
    blocks.launch(
        theme=_theme(),
        head=page.HEAD,
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        max_file_size=handlers.encoders.limits.max_file_bytes,
        # Gradio serves files of the current and the temporary folder alone.
        allowed_paths=[str(EXAMPLES)],
        prevent_thread_lock=True,
        **options,
    )
    sys.stdout.flush()  # the address, also if the output is not a screen
    blocks.block_thread()


def build(handlers: Handlers) -> gr.Blocks:
    """The page, opened with an example already explained.

    Raises:
        RefusedError: the first encoder cannot be loaded.
    """
    first = handlers.encoders.info(handlers.encoders.names[0])  # before anything is built
    blocks = gr.Blocks(
        title="ESTIME", analytics_enabled=False, delete_cache=(CLEANING, AGE), fill_width=True
    )
    with blocks:
        _html(page.asset("header.html"))
        controls = Controls(handlers.encoders, Setting(model=first.name, layer=first.layer))
        with gr.Tabs() as tabs:
            with gr.Tab("Explain", id="explain") as tab:
                explain = explain_tab(handlers, controls)
            explain.redraw_after(controls.note_selected(tab).then)
            with gr.Tab("Compare", id="compare") as tab:
                compare = compare_tab(handlers, controls)
            compare.redraw_after(controls.note_selected(tab).then)
            with gr.Tab("Score a file", id="file") as tab:
                file = FileTab(handlers, controls)
            controls.note_selected(tab)
        with gr.Accordion("How to read this", open=False, elem_id="help"):
            _html(page.asset("help.html"))
        controls.connect(redrawn=[explain, compare])
        file.open_rows_in(explain, tabs)
    return blocks


class Controls:
    """The row of settings above the tabs, and which tab is selected.

    Attributes:
        encoders: the encoders on offer.
        opening: the setting with which the page opens.
    """

    def __init__(self, encoders: Encoders, opening: Setting) -> None:
        self.encoders = encoders
        self.opening = opening
        first = encoders.info(opening.model)
        any_name = encoders.any_name
        with gr.Row(elem_id="settings"):
            self.model = gr.Dropdown(
                encoders.labels,
                value=first.name,
                label="Encoder (or Hub name, or folder)" if any_name else "Encoder",
                elem_id="model",
                filterable=any_name,
                allow_custom_value=any_name,
                min_width=220,
            )
            self.unit = gr.Radio(
                [("tokens", "token"), ("words", "word")],
                value=opening.unit,
                label="Unit",
                elem_id="unit",
            )
            self.layer = gr.Slider(
                1, first.blocks, first.layer, step=1, label=LAYER % first.layer, elem_id="layer"
            )
        #: The tab that is seen, and the encoder that was loaded last.
        self.selected = gr.State("explain")
        self.loaded = gr.State(first.name)

    @property
    def inputs(self) -> set[Any]:
        """The components with the values that `setting` needs."""
        return {self.model, self.unit, self.layer}

    def setting(self, values: Values) -> Setting:
        """What is chosen."""
        return Setting(
            model=values[self.model],
            unit=values[self.unit],
            layer=int(values[self.layer]),
        )

    def note_selected(self, tab: gr.Tab) -> Any:
        """Has a tab note that it is selected; the event."""
        return tab.select(lambda: tab.id, None, self.selected, **_INSTANT)

    def connect(self, redrawn: Sequence[PairTab]) -> None:
        """Loads an encoder when it is chosen, and redraws the tabs when a setting has changed."""
        switched = self.model.change(
            self.switch,
            {self.model, self.loaded},
            [self.model, self.layer, self.loaded],
            **_sharing("load", LOADING),
        )
        for tab in redrawn:
            for control in (self.unit, self.layer):
                tab.redraw_after(control.input)
            tab.redraw_after(switched.success)

    def switch(self, values: Values) -> Values:
        """Loads the chosen encoder and sets the range of layers; returns to the encoder before if
        it cannot be loaded.
        """
        name, loaded = (values[self.model] or "").strip(), values[self.loaded]
        if name == loaded:  # set by this function itself
            return {self.loaded: loaded}
        try:
            info = self.encoders.info(name)
        except ValueError as error:
            gr.Warning(page.with_code(str(error)), duration=15, title="Not available")
            return {self.model: gr.update(value=loaded), self.loaded: loaded}
        return {
            self.model: gr.update(value=info.name),
            self.layer: gr.update(maximum=info.blocks, value=info.layer, label=LAYER % info.layer),
            self.loaded: info.name,
        }


class PairTab:
    """A tab that draws what its texts and the setting give.

    Args:
        name: its id, and the label of its button.
        controls: the settings.
        draw: a setting and the texts -> HTML.
        boxes: label and lines of the box of each text.
        examples: label and texts of each example.
        opening: index of the example with which the tab opens.
    """

    def __init__(
        self,
        name: str,
        controls: Controls,
        draw: Callable[..., str],
        boxes: Mapping[str, int],
        examples: Sequence[tuple[str, Sequence[str]]],
        opening: int,
    ) -> None:
        self.name, self.controls, self._draw = name, controls, draw
        self._examples = [list(texts) for _, texts in examples]
        texts = self._examples[opening]
        with gr.Row(elem_classes="demo-columns"):
            with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
                self.example = gr.Dropdown(
                    [(label, index) for index, (label, _) in enumerate(examples)],
                    value=opening,
                    label="Example",
                    elem_id=f"{name}-example",
                    filterable=False,
                )
                self.texts = [
                    gr.Textbox(
                        text,
                        label=label,
                        elem_id=f"{name}-{label.lower().replace(' ', '-')}",
                        lines=lines,
                        max_lines=lines,
                        html_attributes=gr.InputHTMLAttributes(spellcheck=False),
                    )
                    for text, (label, lines) in zip(texts, boxes.items(), strict=True)
                ]
                button = gr.Button(name.capitalize(), variant="primary", elem_id=name)
            with gr.Column(scale=3, min_width=320):
                shown = draw(controls.opening, *texts)
                self.shown = _html(shown, elem_id=f"{name}-result", min_height=300)
        self.drawn = gr.State(controls.opening)  # the setting of what is shown
        self.draw_after(button.click)
        chosen = self.example.select(
            lambda index: self._examples[index], self.example, self.texts, **_INSTANT
        )
        self.draw_after(chosen.then)

    def draw(self, values: Values) -> Values:
        """What the texts and the setting give, the setting, and the example with these texts."""
        setting = self.controls.setting(values)
        texts = [values[text] or "" for text in self.texts]
        return {
            self.shown: self._draw(setting, *texts),
            self.drawn: setting,
            self.example: self._examples.index(texts) if texts in self._examples else None,
        }

    def draw_if_changed(self, values: Values) -> Values:
        """Draws if the tab is visible and the setting has changed since the last drawing."""
        setting, drawn = self.controls.setting(values), values[self.drawn]
        if values[self.controls.selected] != self.name or setting == drawn:
            return {self.drawn: drawn}
        return self.draw(values)

    def draw_after(self, event: Callable[..., Any]) -> None:
        """Has an event, such as ``button.click``, draw, and bring what is drawn into view."""
        drawn = event(
            self.draw,
            {*self.texts, *self.controls.inputs},
            [self.shown, self.drawn, self.example],
            **_sharing("explain", EXPLAINING),
        )
        drawn.then(None, js=SHOW_RESULT % f"{self.name}-result", api_visibility="private")

    def redraw_after(self, event: Callable[..., Any]) -> None:
        """Has an event call `draw_if_changed`; once more if the event occurs while it is drawing."""
        event(
            self.draw_if_changed,
            {self.controls.selected, self.drawn, *self.texts, *self.controls.inputs},
            [self.shown, self.drawn, self.example],
            trigger_mode="always_last",
            **_sharing("explain", EXPLAINING),
        )


def explain_tab(handlers: Handlers, controls: Controls) -> PairTab:
    """One pair, explained."""
    examples = [
        (f"{others['verdict']}: {_beginning(summary)}", (source, summary))
        for source, summary, others in zip(
            _EXAMPLES.sources, _EXAMPLES.summaries, _EXAMPLES.others, strict=True
        )
    ]
    boxes = {"Source": 9, "Summary": 5}
    return PairTab("explain", controls, handlers.explain, boxes, examples, OPENING)


def compare_tab(handlers: Handlers, controls: Controls) -> PairTab:
    """Two summaries of one source, for each source of the examples."""
    summaries: dict[str, list[str]] = {}
    for source, summary in zip(_EXAMPLES.sources, _EXAMPLES.summaries, strict=True):
        summaries.setdefault(source, []).append(summary)
    examples = [(_beginning(source), (source, *two[:2])) for source, two in summaries.items()]
    opening = list(summaries).index(_EXAMPLES.sources[OPENING])
    boxes = {"Source": 6, "Summary A": 4, "Summary B": 4}
    return PairTab("compare", controls, handlers.compare, boxes, examples, opening)


class FileTab:
    """A file of pairs, the download of its scores, and the way from a row to its explanation."""

    def __init__(self, handlers: Handlers, controls: Controls) -> None:
        self._handlers, self.controls = handlers, controls
        with gr.Row(elem_classes="demo-columns"):
            with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
                self.file = gr.File(
                    label="JSON Lines, CSV or TSV",
                    file_types=list(UPLOADS),
                    elem_id="file",
                    height=180,
                )
                with gr.Row():
                    self.source_column = gr.Textbox(
                        "source", label="Source column", elem_id="source-column", min_width=120
                    )
                    self.summary_column = gr.Textbox(
                        "summary", label="Summary column", elem_id="summary-column", min_width=120
                    )
                with gr.Row():
                    button = gr.Button("Score", variant="primary", elem_id="score", min_width=100)
                    stop = gr.Button("Stop", elem_id="stop", min_width=100)
                example = gr.Button(
                    "Use the eight examples",
                    size="sm",
                    variant="secondary",
                    elem_id="take-examples",
                )
            with gr.Column(scale=3, min_width=320):
                self.download = gr.DownloadButton(
                    "Download the scores",
                    visible=False,
                    variant="primary",
                    size="md",
                    elem_id="download",
                )
                empty = page.render("empty", limits=handlers.encoders.limits)
                self.shown = _html(
                    empty, elem_id="scored", min_height=200, js_on_load=page.asset("rows.js")
                )
        self.pairs = gr.State([])  # source and summary of each listed row
        scoring = button.click(
            self.score,
            {self.file, self.source_column, self.summary_column, *controls.inputs},
            [self.shown, self.download, self.pairs],
            show_progress="minimal",
            **_sharing("file", SCORING),
        )
        # First the end, then the notice: what was under way would replace it.
        stop.click(None, cancels=[scoring], queue=False, api_visibility="private").then(
            lambda: page.notice("Stopped."),
            None,
            self.shown,
            queue=False,
            api_visibility="private",
        )
        example.click(lambda: str(EXAMPLES), None, self.file, queue=False, api_visibility="private")

    def score(self, values: Values) -> Iterator[Values]:
        """Scores the file; shows how far that has come and, at the end, offers the scores."""
        with TemporaryDirectory() as folder:  # what is yielded is copied to where it can be fetched
            for step in self._handlers.score_file(
                self.controls.setting(values),
                values[self.file],
                values[self.source_column] or "",
                values[self.summary_column] or "",
                Path(folder),
            ):
                is_done = step.scores is not None
                yield {
                    self.shown: step.html,
                    self.download: gr.update(
                        value=str(step.scores) if is_done else None, visible=is_done
                    ),
                    self.pairs: step.pairs,
                }

    def open_rows_in(self, explain: PairTab, tabs: gr.Tabs) -> None:
        """Has a row of the table open its explanation in the first tab."""

        def take(values: Values, event: gr.EventData) -> Values:
            texts = values[self.pairs][event.row]
            return {
                **dict(zip(explain.texts, texts, strict=True)),
                tabs: gr.Tabs(selected=explain.name),
                self.controls.selected: explain.name,
            }

        outputs = [*explain.texts, tabs, self.controls.selected]
        explain.draw_after(self.shown.select(take, {self.pairs}, outputs, **_INSTANT).then)


def _html(value: str, **options: Any) -> gr.HTML:
    """HTML with a separate style instead of Gradio's style for running text."""
    return gr.HTML(value, apply_default_css=False, **options)


def _sharing(name: str, limit: int) -> dict[str, Any]:
    """Options of an event that shares a queue with others of that name."""
    return {"concurrency_id": name, "concurrency_limit": limit, "api_visibility": "private"}


def _beginning(text: str) -> str:
    return text[:60].rsplit(" ", 1)[0] + " \u2026"


def _theme() -> gr.themes.Base:
    """Gradio's components in the colors of the explanations, with fonts that every machine has."""
    theme = gr.themes.Base(
        primary_hue=_BLUE,
        secondary_hue=_BLUE,
        neutral_hue=gr.themes.colors.gray,
        radius_size=gr.themes.sizes.radius_lg,
        font=(*_SYSTEM_FONT, "sans-serif"),
        font_mono=("ui-monospace", "SF Mono", "Menlo", "Consolas", "monospace"),
    )
    colors = {}
    for name, (light, dark) in _COLOURS.items():
        colors[name] = light
        colors[f"{name}_dark"] = dark
    return theme.set(**colors, button_primary_text_color="#ffffff", color_accent="*primary_600")
