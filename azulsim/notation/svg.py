"""A position drawn as one self-contained SVG: colors and letters, light and dark, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from azulsim.notation.position import Board, Position, Supply
from azulsim.notation.text import JOKER, MARKER, TILES
from azulsim.notation.words import describe_holder, describe_turn, make_printable, name_seats

_COLOR_NAMES = {"B": "blue", "Y": "yellow", "R": "red", "K": "black", "W": "white", JOKER: "joker", MARKER: "marker"}

_STYLE = (
    """
.azul{--azul-paper:#f6f4ef;--azul-card:#fff;--azul-edge:#ddd8cc;--azul-ink:#1d2433;--azul-muted:#676f7e;
--azul-well:#ece8de;--azul-accent:#0b5c99;--azul-free:#f4f1ea;
--azul-B:#0f6ab4;--azul-Y:#eca50a;--azul-R:#c8372d;--azul-K:#2a2e37;--azul-W:#fdfdfb;--azul-J:#7a4fa3;--azul-M:#fff;
--azul-w:#8fb6bd;--azul-on:#fff;--azul-on-light:#26303f;--azul-tint:.17;
font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}
@media (prefers-color-scheme:dark){.azul{--azul-paper:#12151b;--azul-card:#1b2029;--azul-edge:#333b48;
--azul-ink:#e8ebf1;--azul-muted:#9ca6b6;--azul-well:#303947;--azul-accent:#7cc0f5;--azul-free:#232933;
--azul-B:#2b84cf;--azul-K:#07090c;--azul-tint:.26}}
.azul text{fill:var(--azul-ink);text-anchor:middle}
.azul .azul-left{text-anchor:start}.azul .azul-right{text-anchor:end}
.azul .azul-small{font-size:11px;fill:var(--azul-muted)}
.azul .azul-name{font-size:15px;font-weight:650}.azul .azul-score{font-size:21px;font-weight:700}
.azul .azul-title{font-size:18px;font-weight:650}
.azul .azul-paper{fill:var(--azul-paper)}.azul .azul-card{fill:var(--azul-card);stroke:var(--azul-edge)}
.azul .azul-next{stroke:var(--azul-accent);stroke-width:2.5}.azul .azul-arrow{fill:var(--azul-edge)}
.azul .azul-arrow-next{fill:var(--azul-accent)}.azul .azul-dot{fill:var(--azul-accent)}
.azul .azul-disc{fill:var(--azul-well);stroke:var(--azul-edge);stroke-width:1.5}
.azul .azul-rim{fill:none;stroke:var(--azul-card);stroke-width:2;opacity:.75}
.azul .azul-well{fill:var(--azul-well)}.azul .azul-free{fill:var(--azul-free);stroke:var(--azul-edge)}
.azul .azul-glaze{fill:none;stroke:#fff;stroke-opacity:.38}
.azul .azul-W .azul-glaze{stroke:var(--azul-w);stroke-opacity:1;fill:var(--azul-w);fill-opacity:.2}
.azul .azul-M .azul-glaze{stroke:none}
.azul .azul-body{stroke:#000;stroke-opacity:.22}.azul .azul-K .azul-body{stroke:#8d97a8;stroke-opacity:.6}
.azul .azul-W .azul-body{stroke:#4d8791;stroke-opacity:.85;stroke-width:1.3}
.azul .azul-M .azul-body{stroke:var(--azul-accent);stroke-opacity:1;stroke-width:1.5}
.azul .azul-tile text{fill:var(--azul-on);font-weight:700}
.azul .azul-Y text,.azul .azul-W text,.azul .azul-M text{fill:var(--azul-on-light)}
.azul .azul-space rect{fill-opacity:var(--azul-tint);stroke-opacity:.55}
.azul .azul-space text{font-weight:600;opacity:.8}
.azul .azul-times rect{fill:var(--azul-card);stroke:var(--azul-edge)}
.azul .azul-times text{font-size:9px;font-weight:700}
"""
    + "".join(f".azul .azul-{tile} .azul-body{{fill:var(--azul-{tile})}}" for tile in [*TILES, MARKER])
    + "".join(
        f".azul .azul-space-{tile} rect{{fill:var(--azul-{shade});stroke:var(--azul-{shade})}}"
        for tile, shade in zip("BYRKW", "BYRKw", strict=True)
    )
)

_TILE = 30
_STEP = 34
_PAD = 18
_MARGIN = 20
_LINES_WIDTH = 5 * _STEP
_ARROW = 26
_BOARD_WIDTH = 2 * _PAD + 2 * _LINES_WIDTH + _ARROW - (_STEP - _TILE)
_BOARD_TOP = 58
_FLOOR_TOP = _BOARD_TOP + 5 * _STEP + 12
_BOARD_HEIGHT = _FLOOR_TOP + _TILE + 16 + _PAD
_DISC = 43
_WIDTH = 2 * _MARGIN + 2 * _BOARD_WIDTH + _MARGIN
_DISC_ROW = 2 * _DISC + 24


def draw_svg(position: Position, *, names: Sequence[str] = ()) -> str:
    """Draw a position as an SVG document that needs nothing else.

    Tiles carry their letter, so that colors need not be told apart; title and description say the same in words; the
    colors follow the reader's light or dark scheme.

    Parameters
    ----------
    names : sequence of str
        Who sits where, in seat order.
    """
    called, titles = name_seats(position, names), name_seats(position, names, 34)
    parts: list[str] = []
    y = _MARGIN + 22
    parts.append(_text(_MARGIN, y, _capitalize(describe_turn(position, called)), "azul-title azul-left"))
    y += 18
    for draw in (_draw_displays, _draw_center):
        drawn, height = draw(position, y)
        parts += drawn
        y += height
    y += _MARGIN
    for seat in range(position.players):
        x = _MARGIN + (seat % 2) * (_BOARD_WIDTH + _MARGIN)
        top = y + (seat // 2) * (_BOARD_HEIGHT + _MARGIN)
        parts += [f'<g transform="translate({x} {top})">', *_draw_board(position, seat, titles[seat]), "</g>"]
    height = y + -(-position.players // 2) * (_BOARD_HEIGHT + _MARGIN)
    return "\n".join([*_open(position, called, height), *parts, "</svg>", ""])


def _open(position: Position, names: list[str], height: int) -> list[str]:
    scores = ", ".join(f"{name} {board.score} points" for name, board in zip(names, position.boards, strict=True))
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="azul" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" style="max-width:100%;height:auto">',
        f"<title>{escape(_capitalize(describe_turn(position, names)))}</title>",
        f"<desc>{escape(f'Azul. {scores}. As text: {position}')}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="azul-paper" width="{_WIDTH}" height="{height}" rx="14"/>',
    ]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _text(x: float, y: float, text: str, classes: str = "", size: int | None = None) -> str:
    named = f' class="{classes}"' if classes else ""
    sized = f' font-size="{size}"' if size else ""
    return f'<text x="{x:g}" y="{y:g}"{named}{sized}>{escape(make_printable(text))}</text>'


def _draw_tile(x: float, y: float, tile: str, size: float = _TILE, *, kind: str = "azul-tile") -> str:
    """Draw a tile with its upper left corner at x, y; the marker shows a 1."""
    letter = "1" if tile == MARKER else tile
    inner, middle = size * 0.13, size / 2
    return (
        f'<g class="{kind} azul-{tile}" transform="translate({x:g} {y:g})">'
        f"<title>{_COLOR_NAMES[tile]}</title>"
        f'<rect class="azul-body" width="{size:g}" height="{size:g}" rx="{size * 0.16:.3g}"/>'
        f'<path class="azul-glaze" d="M{middle:g} {inner:.3g}L{size - inner:.3g} {middle:g}L{middle:g} '
        f'{size - inner:.3g}L{inner:.3g} {middle:g}Z"/>'
        f"{_text(middle, size * 0.655, letter, size=round(size * 0.46))}</g>"
    )


def _draw_space(x: float, y: float, printed: str) -> str:
    """Draw an empty space of the wall in a tint of its color; a free space is gray."""
    if printed == ".":
        return f'<rect class="azul-free" x="{x:g}" y="{y:g}" width="{_TILE}" height="{_TILE}" rx="5"/>'
    return (
        f'<g class="azul-space azul-space-{printed}" transform="translate({x:g} {y:g})">'
        f'<rect width="{_TILE}" height="{_TILE}" rx="5"/>{_text(_TILE / 2, _TILE * 0.65, printed, size=13)}</g>'
    )


def _draw_times(x: float, y: float, digit: str) -> str:
    """Draw the factor of a space on its upper right corner."""
    return (
        f'<g class="azul-times" transform="translate({x + _TILE - 13:g} {y - 4:g})">'
        f'<rect width="17" height="13" rx="6.5"/>{_text(8.5, 9.8, f"×{digit}")}</g>'
    )


# ---- displays, center, bag and lid


def _draw_displays(position: Position, top: float) -> tuple[list[str], int]:
    """Draw the displays as discs, in rows of nearly equal length; return them and their height."""
    n = len(position.displays)
    n_rows = -(-n // 7)
    per_row = -(-n // n_rows)
    parts: list[str] = []
    for display, tiles in enumerate(position.displays):
        row, column = divmod(display, per_row)
        in_row = min(per_row, n - row * per_row)
        step = (_WIDTH - 2 * _MARGIN) / per_row
        x = _WIDTH / 2 + (column - (in_row - 1) / 2) * step
        parts += _draw_display(x, top + row * _DISC_ROW + _DISC, display + 1, tiles)
    return parts, n_rows * _DISC_ROW


def _draw_display(x: float, y: float, number: int, tiles: str) -> Iterator[str]:
    yield f'<circle class="azul-disc" cx="{x:g}" cy="{y:g}" r="{_DISC}"/>'
    yield f'<circle class="azul-rim" cx="{x:g}" cy="{y:g}" r="{_DISC - 5}"/>'
    per_row = 1 if len(tiles) == 1 else 2 if len(tiles) <= 4 else 3 if len(tiles) <= 9 else 4
    size = {1: 26, 2: 24, 3: 18, 4: 15}[per_row]
    step = size + 2
    n_rows = -(-len(tiles) // per_row)
    for index, tile in enumerate(tiles):
        row, column = divmod(index, per_row)
        in_row = min(per_row, len(tiles) - row * per_row)
        left = x + (column - in_row / 2) * step + 1
        yield _draw_tile(left, y + (row - n_rows / 2) * step + 1, tile, size)
    yield _text(x, y + _DISC + 15, str(number), "azul-small")


def _draw_center(position: Position, top: float) -> tuple[list[str], int]:
    """Draw the center with the marker while it lies there, and beside it what bag and lid hold."""
    pieces = (MARKER if position.holder is None else "") + position.center
    width = _BOARD_WIDTH
    per_row = (width - 2 * 12) // 28
    height = 46 + 28 * max(1, -(-len(pieces) // per_row))
    parts = [
        f'<rect class="azul-well" x="{_MARGIN}" y="{top:g}" width="{width}" height="{height}" rx="14"/>',
        _text(_MARGIN + 14, top + 20, "center", "azul-small azul-left"),
    ]
    for index, piece in enumerate(pieces):
        row, column = divmod(index, per_row)
        parts.append(_draw_tile(_MARGIN + 14 + column * 28, top + 30 + row * 28, piece, 25))
    right = 2 * _MARGIN + width
    for row, (name, supply) in enumerate((("bag", position.bag), ("lid", position.lid))):
        parts += _draw_supply(right, top + 6 + 34 * row, name, supply)
    return parts, height


def _draw_supply(x: float, y: float, name: str, supply: Supply) -> Iterator[str]:
    """Draw how many tiles of each kind are in the bag or the lid."""
    yield _text(x, y + 17, f"{name}", "azul-small azul-left")
    yield _text(x + 60, y + 18, f"{supply.total}", "azul-right", 15)
    column = 0
    for tile, number in zip(TILES, supply, strict=True):
        if number:
            left = x + 78 + column * 50
            yield _draw_tile(left, y + 3, tile, 19, kind="azul-tile azul-count")
            yield _text(left + 24, y + 17, str(number), "azul-left", 13)
            column += 1


# ---- a board


def _draw_board(position: Position, seat: int, name: str) -> Iterator[str]:
    board, is_next = position.boards[seat], seat == position.seat
    card = "azul-card azul-next" if is_next else "azul-card"
    yield f'<rect class="{card}" width="{_BOARD_WIDTH}" height="{_BOARD_HEIGHT}" rx="14"/>'
    if is_next:
        yield f'<circle class="azul-dot" cx="{_PAD + 5}" cy="{_PAD + 8}" r="5"/>'
    yield _text(_PAD + (18 if is_next else 0), _PAD + 13, name, "azul-name azul-left")
    yield _text(_PAD, _PAD + 30, describe_holder(position, seat), "azul-small azul-left")
    yield _text(_BOARD_WIDTH - _PAD, _PAD + 16, str(board.score), "azul-score azul-right")
    for row in range(5):
        yield from _draw_row(position, seat, row)
    yield from _draw_floor(position, board)


def _draw_row(position: Position, seat: int, row: int) -> Iterator[str]:
    """Draw a pattern line, right-aligned and filled from the right, and the row of the wall beside it."""
    board, rules = position.boards[seat], position.rules
    y = _BOARD_TOP + row * _STEP
    tiles = board.lines[row]
    for at in range(row + 1):
        x = _PAD + (4 - at) * _STEP
        if at < len(tiles):
            yield _draw_tile(x, y, tiles[at])
        else:
            yield f'<rect class="azul-well" x="{x}" y="{y}" width="{_TILE}" height="{_TILE}" rx="5"/>'
    is_next = seat == position.seat and row + 1 == position.row
    tip = _PAD + _LINES_WIDTH + 11
    middle = y + _TILE / 2
    arrow = "azul-arrow-next" if is_next else "azul-arrow"
    yield f'<path class="{arrow}" d="M{tip - 9} {middle - 6:g}L{tip} {middle:g}L{tip - 9} {middle + 6:g}Z"/>'
    for column in range(5):
        x = _PAD + _LINES_WIDTH + _ARROW - (_STEP - _TILE) + column * _STEP
        tile = board.wall[row][column]
        yield _draw_space(x, y, rules.layout[row][column]) if tile == "." else _draw_tile(x, y, tile)
        if (digit := rules.multipliers[row][column]) != "1":
            yield _draw_times(x, y, digit)


def _draw_floor(position: Position, board: Board) -> Iterator[str]:
    """Draw the floor line with the points of each space below it."""
    penalties = position.rules.floor_penalties
    step = min(_STEP, (_BOARD_WIDTH - 2 * _PAD + 4) // max(1, len(penalties)))
    size = step - 4
    for at, points in enumerate(penalties):
        x = _PAD + at * step
        if at < len(board.floor):
            yield _draw_tile(x, _FLOOR_TOP, board.floor[at], size)
        else:
            yield f'<rect class="azul-well" x="{x}" y="{_FLOOR_TOP}" width="{size}" height="{size}" rx="5"/>'
        shown = f"−{-points}" if points else "0"
        yield _text(x + size / 2, _FLOOR_TOP + size + 14, shown, "azul-small")
    if not penalties:
        yield _text(_PAD, _FLOOR_TOP + 20, "no floor line", "azul-small azul-left")
