"""``estime register``: makes ``evaluate.load("estime")`` work on this machine."""

from __future__ import annotations

from typing import Annotated

import typer


def register(
    remove: Annotated[bool, typer.Option("--remove", help="Take the module script out again.")] = False,
) -> None:
    """Install ESTIME for evaluate.load("estime"), with or without network.

    A small script that imports the installed package goes into evaluate's cache of modules; HF_HOME or HF_MODULES_CACHE
    say where that is. Exit status: 0, done, or nothing to remove; 2, it could not be done.
    """
    try:
        from estime_metric.integrations import evaluate  # brings torch, which takes its time

        if remove:
            removed = evaluate.unregister()
            typer.echo("\n".join(f"removed {script}" for script in removed) or "nothing to remove")
        else:
            typer.echo(f'installed {evaluate.register()}\nevaluate.load("estime") now works from any folder')
    except (OSError, ImportError) as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        raise typer.Exit(2) from error
