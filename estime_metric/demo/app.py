"""The page in Gradio: its layout, and which event calls which handler.

An event passes the values of components by the component, and gets those to show alike: a function
reads and returns a dictionary (`Values`), never a row of positions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
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
    # Before anything is built: the encoder may be refused.
    opening = opening_setting(handlers.encoders)
    blocks = gr.Blocks(
        title="ESTIME", analytics_enabled=False, delete_cache=(CLEANING, AGE), fill_width=True
    )
    with blocks:
        _html(page.asset("header.html"))
        controls = Controls(handlers.encoders, opening)
        with gr.Tabs():
            with gr.Tab("Explain", id=ExplainTab.name) as tab:
                explain = ExplainTab(handlers, controls)
            selected = tab.select(lambda: ExplainTab.name, None, controls.selected, **_INSTANT)
            explain.redraw_after(selected.then)
            with gr.Tab("Compare", id=CompareTab.name) as tab:
                compare = CompareTab(handlers, controls)
            selected = tab.select(lambda: CompareTab.name, None, controls.selected, **_INSTANT)
            compare.redraw_after(selected.then)
            with gr.Tab("Score a file", id=FileTab.name) as tab:
                FileTab(handlers, controls)
            tab.select(lambda: FileTab.name, None, controls.selected, **_INSTANT)
        with gr.Accordion("How to read this", open=False, elem_id="help"):
            _html(page.asset("help.html"))
        controls.connect(redrawn=[explain, compare])
    return blocks


def opening_setting(encoders: Encoders) -> Setting:
    """The first encoder at its default layer; raises as `build`."""
    first = encoders.info(encoders.names[0])
    return Setting(model=first.name, layer=first.layer)


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
        self.selected = gr.State(ExplainTab.name)
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
                tab.redraw_after(control.input, trigger_mode="always_last")
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
    """A tab that draws what its texts and the setting give. A subclass makes the components, then
    calls `connect`.

    Attributes:
        name: its id.
        controls: the settings.
    """

    name: str

    def __init__(self, controls: Controls) -> None:
        self.controls = controls
        #: The setting of what is shown.
        self.drawn = gr.State(controls.opening)
        self._inputs: set[Any] = set()
        self._outputs: list[Any] = []

    def draw(self, values: Values) -> Values:
        """What the texts and the setting give, for the components that show it."""
        raise NotImplementedError

    def connect(
        self,
        *,
        inputs: set[Any],
        outputs: list[Any],
        starts: Sequence[Callable[..., Any]],
        shows: str,
    ) -> None:
        """Says which components `draw` reads and returns, at which events it is called, and the id
        of the element to bring into view then.
        """
        self._inputs = {*inputs, *self.controls.inputs}
        self._outputs = [*outputs, self.drawn]
        for start in starts:
            drawn = start(
                self.draw_anew, self._inputs, self._outputs, **_sharing("explain", EXPLAINING)
            )
            drawn.then(None, js=SHOW_RESULT % shows, api_visibility="private")

    def draw_anew(self, values: Values) -> Values:
        """Draws, and keeps the setting in mind."""
        return {**self.draw(values), self.drawn: self.controls.setting(values)}

    def draw_if_changed(self, values: Values) -> Values:
        """Draws if the tab is visible and the setting has changed since the last drawing."""
        setting, drawn = self.controls.setting(values), values[self.drawn]
        if values[self.controls.selected] != self.name or setting == drawn:
            return {self.drawn: drawn}
        return self.draw_anew(values)

    def redraw_after(self, event: Callable[..., Any], **options: Any) -> None:
        """Has an event, such as ``button.click``, call `draw_if_changed`."""
        event(
            self.draw_if_changed,
            {self.controls.selected, self.drawn, *self._inputs},
            self._outputs,
            **_sharing("explain", EXPLAINING),
            **options,
        )


class ExplainTab(PairTab):
    """One pair, explained."""

    name = "explain"

    def __init__(self, handlers: Handlers, controls: Controls) -> None:
        super().__init__(controls)
        self._handlers = handlers
        source, summary = _EXAMPLES.sources[OPENING], _EXAMPLES.summaries[OPENING]
        with gr.Row(elem_classes="demo-columns"):
            with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
                example = _examples(example_labels(), OPENING, "example")
                self.source = _text_box("Source", source, "source", lines=9)
                self.summary = _text_box("Summary", summary, "summary", lines=5)
                button = gr.Button("Explain", variant="primary", elem_id="explain")
            with gr.Column(scale=3, min_width=320):
                explained, drawable = handlers.explain(source, summary, controls.opening)
                self.shown = _html(explained, elem_id="explained", min_height=300)
                with gr.Accordion(
                    "Plot of the matches", open=False, elem_id="picture", visible=drawable
                ) as self.accordion:
                    self.picture = _html("", elem_id="drawn", min_height=200)
        self.opened = gr.State(False)  # the plot is drawn only while it is seen
        texts = [self.source, self.summary]
        chosen = example.select(self.take_example, example, texts, **_INSTANT)
        self.connect(
            inputs={*texts, self.opened},
            outputs=[self.shown, self.picture, self.accordion],
            starts=[chosen.then, button.click],
            shows="explained",
        )
        expanded = self.accordion.expand(lambda: True, None, self.opened, **_INSTANT)
        expanded.then(
            self.draw_picture,
            {*texts, *controls.inputs},
            self.picture,
            **_sharing("explain", EXPLAINING),
        )
        self.accordion.collapse(lambda: False, None, self.opened, **_INSTANT)

    def take_example(self, number: int) -> Values:
        """The texts of an example."""
        return {
            self.source: _EXAMPLES.sources[number],
            self.summary: _EXAMPLES.summaries[number],
        }

    def draw(self, values: Values) -> Values:
        """The explanation and, if it is seen, the plot."""
        explained, drawable = self._handlers.explain(
            values[self.source] or "", values[self.summary] or "", self.controls.setting(values)
        )
        return {
            self.shown: explained,
            self.picture: self.draw_picture(values) if values[self.opened] and drawable else "",
            self.accordion: gr.update(visible=drawable),
        }

    def draw_picture(self, values: Values) -> str:
        """The plot of the matches."""
        return self._handlers.draw(
            values[self.source] or "", values[self.summary] or "", self.controls.setting(values)
        )


class CompareTab(PairTab):
    """Two summaries of one source."""

    name = "compare"

    def __init__(self, handlers: Handlers, controls: Controls) -> None:
        super().__init__(controls)
        self._handlers = handlers
        self.examples = comparisons()
        sources = [example["source"] for example in self.examples]
        number = sources.index(_EXAMPLES.sources[OPENING])
        opening = self.examples[number]
        with gr.Row(elem_classes="demo-columns"):
            with gr.Column(scale=1, min_width=300, elem_classes="demo-inputs"):
                example = _examples(
                    [_beginning(source) for source in sources], number, "compare-example"
                )
                self.source = _text_box("Source", opening["source"], "compare-source", lines=6)
                self.first = _text_box("Summary A", opening["first"], "compare-a", lines=4)
                self.second = _text_box("Summary B", opening["second"], "compare-b", lines=4)
                button = gr.Button("Compare", variant="primary", elem_id="compare")
            with gr.Column(scale=3, min_width=320):
                verdict, compared = handlers.compare(**opening, setting=controls.opening)
                self.verdict = _html(verdict, elem_id="verdict")
                self.compared = _html(compared, elem_id="compared", min_height=300)
        texts = [self.source, self.first, self.second]
        chosen = example.select(self.take_example, example, texts, **_INSTANT)
        self.connect(
            inputs={*texts},
            outputs=[self.verdict, self.compared],
            starts=[chosen.then, button.click],
            shows="verdict",
        )

    def take_example(self, number: int) -> Values:
        """The texts of an example."""
        example = self.examples[number]
        return {
            self.source: example["source"],
            self.first: example["first"],
            self.second: example["second"],
        }

    def draw(self, values: Values) -> Values:
        """The verdict and the two explanations."""
        verdict, compared = self._handlers.compare(
            source=values[self.source] or "",
            first=values[self.first] or "",
            second=values[self.second] or "",
            setting=self.controls.setting(values),
        )
        return {self.verdict: verdict, self.compared: compared}


class FileTab:
    """A file of pairs, and the download of its scores."""

    name = "file"

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
                self.shown = _html(empty, elem_id="scored", min_height=200)
        scoring = button.click(
            self.score,
            {self.file, self.source_column, self.summary_column, *controls.inputs},
            [self.shown, self.download],
            show_progress="minimal",
            **_sharing("file", SCORING),
        )
        stop.click(
            lambda: page.notice("Stopped."),
            None,
            self.shown,
            cancels=[scoring],
            queue=False,
            api_visibility="private",
        )
        example.click(lambda: str(EXAMPLES), None, self.file, queue=False, api_visibility="private")

    def score(self, values: Values) -> Iterator[Values]:
        """Scores the file; shows how far that has come and, at the end, offers the scores."""
        with TemporaryDirectory() as folder:  # what is yielded is copied to where it can be fetched
            for html, scores in self._handlers.score_file(
                values[self.file],
                values[self.source_column] or "",
                values[self.summary_column] or "",
                self.controls.setting(values),
                Path(folder),
            ):
                there = scores is not None
                yield {
                    self.shown: html,
                    self.download: gr.update(value=str(scores) if there else None, visible=there),
                }


def example_labels() -> list[str]:
    """A line for each example."""
    return [
        f"{others['verdict']}: {_beginning(summary)}"
        for summary, others in zip(_EXAMPLES.summaries, _EXAMPLES.others, strict=True)
    ]


def comparisons() -> list[dict[str, str]]:
    """The sources of the examples, each with two of its summaries, in the format of
    `Handlers.compare`.
    """
    summaries: dict[str, list[str]] = {}
    for source, summary in zip(_EXAMPLES.sources, _EXAMPLES.summaries, strict=True):
        summaries.setdefault(source, []).append(summary)
    return [
        {"source": source, "first": some[0], "second": some[1]}
        for source, some in summaries.items()
    ]


def _html(value: str, **options: Any) -> gr.HTML:
    """HTML with a separate style instead of Gradio's style for running text."""
    return gr.HTML(value, apply_default_css=False, **options)


def _examples(labels: Sequence[str], number: int, name: str) -> gr.Dropdown:
    """A choice of examples by their numbers."""
    choices = [(label, index) for index, label in enumerate(labels)]
    return gr.Dropdown(choices, value=number, label="Example", elem_id=name, filterable=False)


def _text_box(label: str, value: str, name: str, *, lines: int) -> gr.Textbox:
    attributes = gr.InputHTMLAttributes(spellcheck=False)
    return gr.Textbox(
        value, label=label, elem_id=name, lines=lines, max_lines=lines, html_attributes=attributes
    )


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
