"""How Gradio's own components look: the colours of the explanations, and fonts that every machine has."""

from __future__ import annotations

import gradio as gr

_SYSTEM_FONT = ("ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial")

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


def calm() -> gr.themes.Base:
    """The theme of the page."""
    theme = gr.themes.Base(
        primary_hue=_BLUE,
        secondary_hue=_BLUE,
        neutral_hue=gr.themes.colors.gray,
        radius_size=gr.themes.sizes.radius_lg,
        font=(*_SYSTEM_FONT, "sans-serif"),
        font_mono=("ui-monospace", "SF Mono", "Menlo", "Consolas", "monospace"),
    )
    both = {f"{name}{mode}": of[i] for name, of in _COLOURS.items() for i, mode in enumerate(("", "_dark"))}
    return theme.set(**both, button_primary_text_color="#ffffff", color_accent="*primary_600")
