"""A person at the table: a game against strategies in the terminal, with hints, undo and a saved game."""

from __future__ import annotations

from azulsim.interactive.session import DEFAULT_OPPONENT, PERSON, Session, begin_session, load_session
from azulsim.interactive.talk import play_in_terminal

__all__ = ["DEFAULT_OPPONENT", "PERSON", "Session", "begin_session", "load_session", "play_in_terminal"]
