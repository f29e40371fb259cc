"""The talk at the table: draws it, asks the person, answers, and tells what the others did."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from azulsim.errors import AzulsimError, InputError, RunError
from azulsim.explain import describe_moves, explain
from azulsim.game import Game
from azulsim.interactive.reading import read_decision
from azulsim.interactive.session import Session, points_of_columns, suggest_column
from azulsim.interactive.words import (
    COLOR_WORDS,
    call_seat,
    count_things,
    describe_displays,
    describe_end,
    describe_move,
    describe_placing,
    describe_round,
    describe_worth,
    list_moves,
)
from azulsim.notation import draw_text

HINTS_BY = "tuned"
"""The strategy that gives hints: one whose reasons can be said in a few words."""
N_HINTS = 3
MAX_WIDTH = 100

HELP = """\
A move takes all tiles of one color from a display or the center (C) to one of
your pattern lines (1 to 5) or to your floor line (-):
  2B3   or   2 blue 3             display 2, blue, line 3
  CR-   or   center red floor     the center, red, floor line
{jokers}{placing}Colors are B blue, Y yellow, R red, K black, W white{joker_letter}.
[M] is the starting player marker. In the picture [B] is a tile, a dot a free
space, a small letter the space of the wall where that color goes; > shows whose
turn it is.
  hint        the moves that {hints_by} likes best, and why
  moves       every legal move
  table       the table again (so does Enter)
  undo        back to your last decision
  save FILE   keep the game in FILE from now on
  quit        leave; the game is kept, and you are told how to go on"""
_JOKER_HELP = """\
  2J3 takes the jokers of display 2 alone, 2BJ3 blue and the jokers, and where
  you may choose how many jokers stay on the line, 2BJ3/1 keeps one
"""
_PLACING_HELP = """\
When a line is complete you may be asked for a column of the wall: write its
number, or press Enter for the one in brackets.
"""

_COMMANDS = {
    **dict.fromkeys(("help", "h", "?"), "help"),
    **dict.fromkeys(("hint", "hints"), "hint"),
    **dict.fromkeys(("moves", "legal"), "moves"),
    **dict.fromkeys(("table", "show", "board"), "table"),
    **dict.fromkeys(("undo", "u", "back"), "undo"),
    **dict.fromkeys(("quit", "exit", "q", "bye"), "quit"),
}


def play_in_terminal(
    session: Session, *, ask: Callable[[str], str], say: Callable[[str], None], color: bool = False, width: int = 80
) -> None:
    """Play a game with a person who types.

    Parameters
    ----------
    ask : function
        Shows a prompt and returns the line typed; raises `EOFError` when there is no more.
    say : function
        Shows text, one line or several.
    color, width
        As for `azulsim.notation.draw_text`.

    Raises
    ------
    KeyboardInterrupt
        If the person interrupts; the game is kept, and the error carries a note that says where.
    RunError
        If a strategy fails or a round cannot be dealt; the game is kept, and the sentence says where.
    """
    _Talk(session, ask, say, color, width).run()


class _Talk:
    def __init__(
        self, session: Session, ask: Callable[[str], str], say: Callable[[str], None], color: bool, width: int
    ) -> None:
        self.session = session
        self.ask, self.say = ask, say
        self.color, self.width = color, width
        self.n_told = len(session.game.moves)
        """Decisions of the game that the person knows of."""
        self.n_typed = 0
        self.is_leaving = False

    def run(self) -> None:
        try:
            self._tell_deal()
            while not self.is_leaving:
                self._let_others_play()
                self._ask_person()
            self.say(self._take_leave())
        except EOFError:
            self.say(f"\n{self._take_leave()}")
        except KeyboardInterrupt as stop:
            stop.add_note(self._take_leave())
            raise
        except BrokenPipeError:  # nobody listens any more
            self._take_leave()
            raise
        except RunError as error:
            raise type(error)(f"{error}. {self._take_leave()}") from None

    def _let_others_play(self) -> None:
        game = self.session.game
        while not game.is_over and not self.session.is_waiting:
            self.session.answer()
            self._tell_news()

    # ---- what happened

    def _tell_news(self) -> None:
        game = self.session.game
        for n in range(self.n_told, len(game.moves)):
            before, after = game.look_back(n), game.look_back(n + 1)
            self._say_wrapped(f"{call_seat(game, before.decider)}: {_describe(before, game.moves[n])}.")
            if after.is_over or after.round > before.round:
                rounds = [played for played in game.record().rounds if played.number == before.round]
                scores = rounds[-1].scores
                self.say("")
                for line in describe_round(before, after, scores):
                    self._say_wrapped(line)
                if after.is_over:
                    for line in describe_end(after, scores):
                        self._say_wrapped(line)
                elif n + 1 == len(game.moves):
                    self._tell_deal()
        self.n_told = len(game.moves)

    def _tell_deal(self) -> None:
        """Say what lies out, unless the table is about to be drawn."""
        if not self.session.game.is_over and not self.session.is_waiting:
            self._say_wrapped(describe_displays(self.session.game))

    def _say_wrapped(self, text: str) -> None:
        indent = " " * (len(text) - len(text.lstrip()) + 4)
        width = min(self.width, MAX_WIDTH)
        self.say(textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))

    def _draw(self) -> None:
        game = self.session.game
        position = game.position(hidden=False)
        self.say("\n" + draw_text(position, color=self.color, width=self.width, names=game.specs).rstrip("\n"))

    # ---- what the person types

    def _ask_person(self) -> None:
        """Ask until the game has changed, or is left."""
        game = self.session.game
        before = list(game.moves)
        self._draw()
        while game.moves == before and not self.is_leaving:
            line = self.ask(self._make_prompt()).strip()
            self.n_typed += 1
            try:
                self._answer(line)
            except InputError as error:
                self._say_wrapped(_as_sentence(error))
        self._tell_news()

    def _make_prompt(self) -> str:
        game = self.session.game
        self.say("")
        if game.is_over:
            return "undo, save FILE, or Enter to leave> "
        whose = "your move" if len(self.session.persons) == 1 else f"seat {game.decider}, your move"
        if game.placing:
            self._say_wrapped(_describe_choice(self.session))
            return f"column [{suggest_column(game)}]> "
        return f"{whose}{'' if self.n_typed else ' (such as 2B3, or hint, or help)'}> "

    def _answer(self, line: str) -> None:
        game = self.session.game
        word, _, rest = line.partition(" ")
        command = _COMMANDS.get(line.lower())
        if word.lower() == "save":
            self._save(rest.strip())
        elif command:
            getattr(self, f"_do_{command}")()
        elif game.is_over:
            if line:
                raise InputError("the game is over; undo takes back your last decision, quit leaves")
            self.is_leaving = True
        elif not line and not game.placing:
            self._draw()
        else:
            suggested = suggest_column(game) if game.placing else None
            self.session.decide(read_decision(line, game, suggested))

    def _do_help(self) -> None:
        rules = self.session.game.rules
        self.say(
            HELP.format(
                jokers=_JOKER_HELP if rules.joker_tiles else "",
                placing=_PLACING_HELP if rules.has_free_spaces or rules.joker_tiles else "",
                joker_letter=", J joker" if rules.joker_tiles else "",
                hints_by=HINTS_BY,
            )
        )

    def _do_moves(self) -> None:
        for line in list_moves(self.session.game):
            self._say_wrapped(line)

    def _do_table(self) -> None:
        self._draw()

    def _do_undo(self) -> None:
        if not self.session.undo():
            raise InputError("there is no decision of yours to take back")
        self.n_told = len(self.session.game.moves)
        self.say("Your last decision is taken back.")

    def _do_quit(self) -> None:
        self.is_leaving = True

    def _do_hint(self) -> None:
        game = self.session.game
        if game.is_over:
            raise InputError("the game is over, so that there is nothing to hint at")
        if game.placing:
            self._say_wrapped(_describe_choice(self.session))
            return
        answer = explain(game.position(), HINTS_BY, project=self.session.project)
        self._say_wrapped(f"What {HINTS_BY} likes best, which counts points and what lines and columns promise:")
        for candidate in answer.candidates[:N_HINTS]:
            what = describe_move(candidate.move, candidate.fields)
            self._say_wrapped(f"  {candidate.move}  {describe_worth(candidate.fields)}: {what}")

    def _save(self, name: str) -> None:
        if not name:
            raise InputError("say where: save FILE")
        self.session.save(Path(name).expanduser())
        self.say(f"The game is kept in {self.session.file} from now on.")

    # ---- leaving

    def _take_leave(self) -> str:
        """Keep the game, and say how to go on."""
        session = self.session
        game = session.game
        if not session.file and not game.moves:
            return "Nothing was played, so nothing is saved."
        if not session.file and game.is_over:
            return "The game was not saved."
        try:
            if session.file:
                session.keep()
            else:
                session.save(_find_free_name(game.seed))
        except AzulsimError as error:
            return f"{error}. This is the game; keep it in a file for azulsim play --load:\n\n{game.record()}"
        if game.is_over:
            return f"The game is saved in {session.file}."
        return f"The game is saved. Go on with: azulsim play --load {session.file}"


def _as_sentence(error: InputError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _describe(view: Game, decision: str) -> str:
    if view.placing:
        return describe_placing(view, decision)
    return f"{decision}, {describe_move(decision, describe_moves(view)[decision])}"


def _describe_choice(session: Session) -> str:
    """Say where the tile of a complete line may go, and what that scores."""
    game = session.game
    placing = game.placing
    assert placing is not None
    whose = "Your" if len(session.persons) == 1 else f"Seat {placing.seat}, your"
    options = [
        f"column {column} ({count_things(points, 'point')})" if column else "floor (the whole line falls)"
        for column, points in points_of_columns(game).items()
    ]
    tile = f"The {COLOR_WORDS[placing.color]} tile may go to"
    return f"{whose} line {placing.row} is complete. {tile} {', '.join(sorted(options))}."


def _find_free_name(seed: int) -> Path:
    return next(path for path in _list_names(seed) if not path.exists())


def _list_names(seed: int) -> Iterator[Path]:
    yield Path(f"azul-{seed}.txt")
    n = 2
    while True:
        yield Path(f"azul-{seed}-{n}.txt")
        n += 1
