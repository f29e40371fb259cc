"""Interrupts from the keyboard: the first one counts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def one_interrupt(*, is_last: bool = False) -> Iterator[None]:
    """Let one interrupt end what is done here, and no other disturb its end.

    Pressed twice, the keys would break into the ending of workers, which then may wait for each other for ever.

    Parameters
    ----------
    is_last
        True if nothing is done after it, so that the end of the process is not disturbed either.
    """
    react = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(react):
        yield
        return
    is_over = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal is_over
        if not is_over:
            is_over = True
            react(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if is_over and is_last else react)
