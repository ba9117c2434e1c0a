"""Single pairs from concurrent tasks or threads -> batches for the encoder, worked off in a thread of their own."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

from estime_metric.inputs import check_text
from estime_metric.integrations.judging import Judge, Judgement

#: Seconds that the first pair of a batch waits for others, and the most pairs in a batch.
WAIT = 0.02
MOST = 256


class MicroBatcher:
    """Gathers pairs that are submitted one by one and judges those that wait in one call, ``most`` at most.

    The first pair waits so many seconds for others; while a batch is being judged the next one gathers, so batches grow
    with the load. It may be used from several threads and event loops at once.
    """

    def __init__(self, judge: Judge, wait: float = WAIT, most: int = MOST) -> None:
        self.judge = judge
        self.wait = wait
        self.most = most
        self._lock = threading.Lock()
        self._pending: list[tuple[str, str, Future[Judgement]]] = []
        self._worker: threading.Thread | None = None  # while pairs are pending

    def submit(self, prediction: str, source: str) -> Future[Judgement]:
        """The judgement of a pair, to come; TypeError or ValueError where an argument is no text."""
        future: Future[Judgement] = Future()
        pair = check_text("prediction", prediction), check_text("source", source), future
        with self._lock:
            if self._worker is not None and not self._worker.is_alive():  # it runs in the process that was forked
                self._worker, self._pending = None, []
            self._pending.append(pair)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="estime")
                self._worker.start()
        return future

    def _work(self) -> None:
        time.sleep(self.wait)
        while True:
            with self._lock:
                batch, self._pending = self._pending[: self.most], self._pending[self.most :]
                if not batch:
                    self._worker = None
                    return
            self._finish([pair for pair in batch if pair[2].set_running_or_notify_cancel()])

    def _finish(self, batch: list[tuple[str, str, Future[Judgement]]]) -> None:
        """Judges a batch; what it raises is raised to all who wait for it."""
        try:
            judgements = self.judge([pair[0] for pair in batch], [pair[1] for pair in batch])
        except BaseException as error:
            for _, _, future in batch:
                future.set_exception(error)
        else:
            for (_, _, future), judgement in zip(batch, judgements, strict=True):
                future.set_result(judgement)
