"""What the screen shows while texts are scored: a bar, the invalid rows, and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from tqdm import tqdm

from estime_metric._wording import counted
from estime_metric.cli.console import NAMED_ROWS, note, warn, warn_of_more_rows
from estime_metric.jobs import Job, NotResumableError, Progress
from estime_metric.table.output import is_standard


class Bar(Progress):
    """Shows on stderr how far a job is. Use it as a context, which says how to go on if it ends
    early."""

    def __init__(self, job: Job, *, quiet: bool) -> None:
        self._job, self._quiet = job, quiet
        self._has_started = False
        self._skipped = 0
        self._bar = tqdm(disable=True)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.close()
        warn_of_more_rows(self._skipped)
        if self._has_started and error is not None and not isinstance(error, NotResumableError):
            self._say_how_to_resume()

    def start(self, resumed: int) -> None:
        """As `Progress.start`."""
        self._has_started = True
        if resumed:
            note(f"{counted(resumed, 'pair')} already scored")
        self._bar = tqdm(
            unit="pair", initial=resumed, disable=self._quiet, dynamic_ncols=True, delay=0.001
        )

    def expect(self, pairs: int) -> None:
        """As `Progress.expect`."""
        self._bar.total = pairs

    def advance(self, pairs: int) -> None:
        """As `Progress.advance`."""
        self._bar.update(pairs)

    def keep(self, pairs: int, problems: Sequence[str]) -> None:
        """As `Progress.keep`."""
        for problem in problems[: max(NAMED_ROWS - self._skipped, 0)]:
            with tqdm.external_write_mode():
                warn(f"skipped {problem}")
        self._skipped += len(problems)

    def _say_how_to_resume(self) -> None:
        output = self._job.output
        if output is None:
            note("Nothing is kept. To be able to resume, name a file with -o.")
        elif not is_standard(output):
            note(
                f"What was scored for {output} is kept. Run the command again with --resume to "
                "continue."
            )
