"""The page in Gradio: its layout, and which event calls which handler."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.events import api

from estime_metric._wording import shortened
from estime_metric.demo import page
from estime_metric.demo.encoders import CHOICES, EXAMPLE_PAIRS, Encoders, Setting
from estime_metric.demo.handlers import Handlers
from estime_metric.demo.limits import Limits, RefusedError

#: Index of the example with which the page opens.
OPENING = 1

#: Requests that run at the same time, and requests that wait; visitors of further ones read that the
#: page is busy.
RUNNING, WAITING = 4, 30

#: Label of the slider, with the encoder's default.
LAYER = "Layer (default %d)"

#: On a narrow page the result is below the texts: brings it into view.
SHOW_RESULT = "() => { if (window.innerWidth < 900) document.getElementById('result').scrollIntoView({block: 'start'}); }"

#: Options of an event. All events share one queue.
_EVENT: dict[str, Any] = {"concurrency_id": "explain", "concurrency_limit": RUNNING}


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
    blocks = build(Handlers(Encoders(models, limits, any_model)))
    blocks.queue(max_size=WAITING, api_open=False)
    blocks.launch(
        head=page.HEAD,
        footer_links=["api"],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
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
    encoders = handlers.encoders
    first = encoders.info(encoders.names[0])  # before anything is built
    examples = _examples()
    opening = list(examples.values())[OPENING]
    blocks = gr.Blocks(title="ESTIME", analytics_enabled=False, fill_width=True)
    with blocks:
        _html(page.asset("header.html"))
        with gr.Row(elem_classes="demo-columns"):
            with gr.Column(scale=1, min_width=300, elem_id="texts"):
                source = _text_box("Source", opening[0], lines=9)
                summary = _text_box("Summary", opening[1], lines=5)
                other = _text_box("Second summary (optional, to compare)", "", lines=2)
                button = gr.Button("Explain", variant="primary", elem_id="explain")
                picked = gr.Examples(
                    list(examples.values()),
                    [source, summary, other],
                    example_labels=list(examples),
                    elem_id="examples",
                    api_visibility="private",
                )
            with gr.Column(scale=3, min_width=320):
                drawn = handlers.draw(Setting(first.name, layer=first.layer), *opening)
                result = _html(drawn, elem_id="result", min_height=300)
        with gr.Accordion("How to read this", open=False, elem_id="help"):
            _html(page.asset("help.html"))
        with gr.Accordion("Settings for experts", open=False, elem_id="settings"), gr.Row():
            model = gr.Dropdown(
                encoders.labels,
                value=first.name,
                label="Encoder (or Hub name, or folder)" if encoders.any_name else "Encoder",
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

        def draw(source: str, summary: str, other: str, model: str, unit: str, layer: float) -> str:
            setting = Setting((model or "").strip(), unit, int(layer))
            return handlers.draw(setting, source or "", summary or "", other or "")

        def draw_after(event: Callable[..., Any]) -> Any:
            return event(
                draw,
                [source, summary, other, model, unit, layer],
                result,
                trigger_mode="always_last",
                api_visibility="private",
                **_EVENT,
            )

        def set_layers(model: str) -> Any:
            """The range and the default of the layers of an encoder; `draw` says if it cannot be loaded."""
            try:
                info = encoders.info((model or "").strip())
            except RefusedError:
                return gr.skip()
            return gr.update(maximum=info.blocks, value=info.layer, label=LAYER % info.layer)

        for event in (button.click, picked.load_input_event.then):
            draw_after(event).then(None, js=SHOW_RESULT, api_visibility="private")
        for control in (unit, layer):
            draw_after(control.input)
        draw_after(model.input(set_layers, model, layer, api_visibility="private", **_EVENT).then)

        def explain(source: str, summary: str) -> dict[str, Any]:
            """Finds words of a summary that may be inconsistent with the source text that it summarizes.

            Returns the inconsistency (0 to 1, lower is better; no threshold separates good from bad), the number of
            alarms, the fraction of new words, the mean length of copied runs in words, the words to check, the
            likeliest errors first, and warnings. A word is a new name, number or word, which the source does not
            have, or an alarm: its context in the source has the word `source_has` instead.

            Args:
                source: The text that was summarized.
                summary: The summary to check.
            """
            try:
                return handlers.describe(source, summary)
            except ValueError as error:
                raise gr.Error(str(error), print_exception=False) from None

        api(explain, api_name="explain", **_EVENT)
    return blocks


def _examples() -> dict[str, list[str]]:
    """Label -> source, summary and second summary: each unfaithful summary of the bundled pairs alone,
    then with the faithful one of its source.
    """
    alone, compared = {}, {}
    faithful: dict[str, str] = {}
    for pair in EXAMPLE_PAIRS:
        source, summary = pair["source"], pair["summary"]
        if pair["verdict"] == "faithful":
            faithful[source] = summary
            continue
        beginning = shortened(summary, 28)
        alone[f"Explain: {beginning}"] = [source, summary, ""]
        compared[f"Compare: {beginning}"] = [source, faithful[source], summary]
    return {**alone, **compared}


def _text_box(label: str, text: str, *, lines: int) -> gr.Textbox:
    return gr.Textbox(
        text,
        label=label,
        elem_id=label.split(" (")[0].lower().replace(" ", "-"),
        lines=lines,
        max_lines=lines,
        html_attributes=gr.InputHTMLAttributes(spellcheck=False),
    )


def _html(value: str, **options: Any) -> gr.HTML:
    """HTML with a separate style instead of Gradio's style for running text."""
    return gr.HTML(value, apply_default_css=False, **options)
