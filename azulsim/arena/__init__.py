"""Seats strategies and plays: blocks of deals, compiled or in lockstep, and games played on from their positions."""

from azulsim.arena.asking import check_index, describe_timeout, make_players, note_once, score_plainly
from azulsim.arena.block import ALL_ROUNDS, TABLE_NAMES, Block, Probes, Pulse, Tables, join_tables, make_failed
from azulsim.arena.lockstep import LOCKSTEP
from azulsim.arena.playing import play_block, warm_up

__all__ = [
    "ALL_ROUNDS",
    "LOCKSTEP",
    "TABLE_NAMES",
    "Block",
    "Probes",
    "Pulse",
    "Tables",
    "check_index",
    "describe_timeout",
    "join_tables",
    "make_failed",
    "make_players",
    "note_once",
    "play_block",
    "score_plainly",
    "warm_up",
]
