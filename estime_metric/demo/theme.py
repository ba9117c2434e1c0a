"""How Gradio's own components look."""

from __future__ import annotations

import gradio as gr

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


def calm() -> gr.themes.Base:
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
