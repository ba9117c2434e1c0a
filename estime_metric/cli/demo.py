"""``estime demo``: the page that shows alarms with their evidence, on this machine."""

from __future__ import annotations

import socket
from typing import Annotated

from cyclopts import Parameter

from estime_metric._extras import needs_extra


def demo(
    *,
    model: Annotated[list[str] | None, Parameter(alias="-m")] = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    share: bool = False,
) -> None:
    """Open a web page that shows alarms with their evidence.

    You can paste a summary with its source, or compare two summaries of one source. Visitors can load
    any encoder by name if the page is reachable from this machine only.

    Stop it with Ctrl-C.

    Exit status: 2 on failure.

    Example: estime demo

    Args:
        model: Encoder to offer on the page. Can be given several times; the first one is selected
            initially. (default: embedded)
        host: Address to listen on; 0.0.0.0 listens on all addresses.
        port: Port. (default: the first free one from 7860 on)
        browser: Open the page in a browser.
        share: Create a public Gradio link.
    """
    if port is not None:  # fails before anything is loaded if the port is in use
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except (OSError, OverflowError) as error:
                raise OSError(
                    f"cannot listen on {host}, port {port}: {str(error).rstrip('.')}."
                ) from error
    with needs_extra("demo", "The demo needs Gradio"):
        from estime_metric.demo.app import launch  # imports Gradio and torch: slow
        from estime_metric.demo.encoders import CHOICES
    launch(
        (*(model or ()), *CHOICES),
        any_model=host in ("127.0.0.1", "::1", "localhost") and not share,
        server_name=host,
        server_port=port,
        inbrowser=browser,
        share=share,
    )
