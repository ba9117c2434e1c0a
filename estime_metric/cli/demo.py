"""``estime demo``: the page that shows alarms with their evidence, on this machine."""

from __future__ import annotations

import socket
from typing import Annotated

from cyclopts import Parameter, validators

from estime_metric._messages import needs_extra
from estime_metric.config import EMBEDDED_MODEL


def demo(
    *,
    model: Annotated[str, Parameter(alias="-m")] = EMBEDDED_MODEL,
    host: str = "127.0.0.1",
    port: Annotated[int | None, Parameter(validator=validators.Number(gte=0, lte=65535))] = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    share: bool = False,
) -> None:
    """Open a web page that shows alarms with their evidence.

    You can paste a summary with its source, or compare two summaries of one source. Long texts are
    refused, so that nobody waits for them; 'estime explain' has no limit.

    Stop it with Ctrl-C.

    Exit status: 2 on failure.

    Example: estime demo

    Args:
        model: Encoder: 'embedded', 'embedded-small', 'paper', a Hub name, or a folder.
        host: Address to listen on; 0.0.0.0 listens on all addresses.
        port: Port. (default: the first free one from 7860 on)
        browser: Open the page in a browser.
        share: Create a public Gradio link.
    """
    if port is not None:  # fails before anything is loaded if the port is in use
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    with needs_extra("demo", "The demo needs Gradio"):
        from estime_metric.demo.app import launch  # imports Gradio and torch: slow
    launch(
        model,
        server_name=host,
        server_port=port,
        inbrowser=browser,
        share=share,
    )
