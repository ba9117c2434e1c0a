"""The page in Gradio: its layout, and which event calls which handler."""

from __future__ import annotations

import sys
from typing import Any

import gradio as gr
from gradio.events import api

from estime_metric._messages import shortened
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.demo import page
from estime_metric.demo.handlers import EXAMPLES, Handlers

#: Index of the example with which the page opens.
OPENING = 1

#: Requests that run at the same time, and requests that wait; visitors of further ones read that the
#: page is busy.
RUNNING, WAITING = 4, 30

#: On a narrow page the result is below the texts: brings it into view.
SHOW_RESULT = "() => { if (window.innerWidth < 900) document.getElementById('result').scrollIntoView({block: 'start'}); }"

#: Options of an event. All events share one queue.
_EVENT: dict[str, Any] = {"concurrency_id": "explain", "concurrency_limit": RUNNING}


def launch(model: str = EMBEDDED_MODEL, **options: Any) -> None:
    """Serves the page until it is interrupted.

    Args:
        model: the encoder, as `EstimeConfig.model`.
        options: of ``gradio.Blocks.launch``, such as ``server_name``, ``server_port``,
            ``inbrowser``.

    Raises:
        EncoderUnavailableError: the encoder cannot be loaded.
        OSError: the port is in use.
    """
    blocks = build(Handlers(model))
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
    """The page, opened with an example already explained."""
    examples = _examples()
    opening = list(examples.values())[OPENING]
    blocks = gr.Blocks(title="ESTIME", analytics_enabled=False, fill_width=True)
    with blocks:
        _html(page.HEADER)
        with gr.Row(elem_classes="demo-columns"):
            with gr.Column(scale=1, min_width=300, elem_id="texts"):
                source = _text_box("Source", opening[0], lines=9)
                summary = _text_box("Summary", opening[1], lines=5)
                other = _text_box("Second summary (optional, to compare)", "", lines=2)
                with gr.Row():
                    button = gr.Button("Explain", variant="primary", elem_id="explain", scale=3)
                    stop = gr.Button("Stop", elem_id="stop", scale=1, min_width=80)
                picked = gr.Examples(
                    list(examples.values()),
                    [source, summary, other],
                    example_labels=list(examples),
                    elem_id="examples",
                    api_visibility="private",
                )
            with gr.Column(scale=3, min_width=320):
                result = _html(handlers.draw(*opening), elem_id="result", min_height=300)
        with gr.Accordion("How to read this", open=False, elem_id="help"):
            _html(page.HELP)

        def draw(source: str | None, summary: str | None, other: str | None) -> str:
            return handlers.draw(source or "", summary or "", other or "")

        drawings = [
            event(
                draw,
                [source, summary, other],
                result,
                trigger_mode="always_last",
                api_visibility="private",
                **_EVENT,
            )
            for event in (button.click, picked.load_input_event.then)
        ]
        for drawing in drawings:
            # The call that changes nothing hides the "Error" that Gradio may show for a call that was stopped.
            drawing.then(
                gr.skip,
                None,
                result,
                js=SHOW_RESULT,
                show_progress="hidden",
                api_visibility="private",
            )
        # The page waits no longer, and keeps its last result; the encoder ends the call that it has begun.
        stop.click(None, cancels=drawings, api_visibility="private")

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
    faithful = {row["source"]: row["summary"] for row in EXAMPLES if row["verdict"] == "faithful"}
    for row in EXAMPLES:
        source, summary = row["source"], row["summary"]
        if row["verdict"] != "faithful":
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
