"""Positions drawn in letters and as SVG: every piece is there, nothing runs over, nothing gets out."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from notation_builders import NAMES, positions

from azulsim.notation import NotationError, Position, draw_svg, draw_text, parse_position
from azulsim.notation.words import cut_names
from azulsim.rules import COLORS

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SVG = "{http://www.w3.org/2000/svg}"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

STANDARD = parse_position(
    "4 1 0 0 BBYR,-,KKWW,Y,- KK B3Y12 W2 7:BY.../...../..B../...../....B:R/YY/.../K.../.....:MBW "
    "12:..R../...../...../...../.....:./B./KK./..../.....:-"
)
MOSAIC = parse_position(
    "2 0@2 1 1 -,-,-,-,- - J2 - 3:...K./...../..Y../...../.....:./RJ/.../..../.....:- "
    "0:...../...../...../...../.....:./../.../..../.....:M "
    'rules={wall=["...K.", "W....", "..Y..", "....B", ".R..."], multipliers=["11131", "21111", "11211", "11112", '
    '"12111"], joker_tiles=true}'
)
DRAWN = """\
round 4, seat 1: you to move
 1 [B][B][Y][R]    2 -    3 [K][K][W][W]    4 [Y]    5 -
 C [K][K]
bag  15:  B 3  Y 12
lid   2:  W 2

  seat 0: greedy          7 points    > seat 1: you            12 points
  started the round, holds the marker
            [R]    [B][Y] r  k  w                  .      b  y [R] k  w
         [Y][Y]     w  b  y  r  k               . [B]     w  b  y  r  k
       .  .  .      k  w [B] y  r            . [K][K]     k  w  b  y  r
    .  .  . [K]     r  k  w  b  y         .  .  .  .      r  k  w  b  y
 .  .  .  .  .      y  r  k  w [B]     .  .  .  .  .      y  r  k  w  b
floor  [M] [B] [W]  .   .   .   .     floor   .   .   .   .   .   .   .
       -1  -1  -2  -2  -2  -3  -3            -1  -1  -2  -2  -2  -3  -3
"""
DRAWN_MOSAIC = """\
round 2, seat 0 to place the tile of line 2
 1 -    2 -    3 -    4 -    5 -
 C -
bag   2:  J 2
lid   0

> seat 0                            3 points

             .      .    .    .   [K]x3 .
         [J][R] >>  w x2 .    .    .    .
       .  .  .      .    .   [Y]x2 .    .
    .  .  .  .      .    .    .    .    b x2
 .  .  .  .  .      .    r x2 .    .    .
floor   .   .   .   .   .   .   .
       -1  -1  -2  -2  -2  -3  -3
"""


def list_pieces(position: Position) -> Counter[str]:
    """Every tile and marker that lies on the table."""
    pieces = Counter("".join([*position.displays, position.center]))
    for board in position.boards:
        pieces.update("".join([*board.wall, *board.lines, board.floor]))
    pieces["M"] += position.holder is None
    del pieces["."]
    return +pieces


def test_golden_letters() -> None:
    assert draw_text(STANDARD, names=("greedy", "you")) == DRAWN
    assert draw_text(MOSAIC, width=60).startswith(DRAWN_MOSAIC)


@FEW
@given(positions())
def test_letters_show_every_piece_in_the_width_asked_for(position: Position) -> None:
    for width in (80, 160):
        drawn = draw_text(position, width=width)
        assert drawn.isascii()
        assert drawn.isprintable() or set(drawn) - set(drawn.replace("\n", "")) == {"\n"}
        assert max(map(len, drawn.splitlines())) <= width
        assert Counter(re.findall(r"\[(.)\]", drawn)) == list_pieces(position)


@FEW
@given(positions())
def test_colors_only_add_escapes(position: Position) -> None:
    plain, colored = draw_text(position), draw_text(position, color=True)
    bare = "\n".join(line.rstrip() for line in ESCAPES.sub("", colored).splitlines())
    assert bare.rstrip() == plain.rstrip()
    assert colored != plain


def test_boards_stand_below_each_other_where_there_is_no_room() -> None:
    assert len(draw_text(STANDARD, width=40).splitlines()) > len(draw_text(STANDARD).splitlines())
    assert draw_text(STANDARD, width=1).count("points") == 2


@FEW
@given(positions())
def test_svg_is_xml_that_shows_every_piece(position: Position) -> None:
    drawn = draw_svg(position)
    assert draw_svg(parse_position(str(position))) == drawn
    root = ElementTree.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    shown: Counter[str] = Counter()
    free: Counter[str] = Counter()
    for group in root.iter(f"{SVG}g"):
        classes = group.get("class", "").split()
        if "azul-tile" in classes and "azul-count" not in classes:
            letter = group.findtext(f"{SVG}text") or ""
            assert f"azul-{letter.replace('1', 'M')}" in classes
            shown[letter.replace("1", "M")] += 1
        if "azul-space" in classes:
            free[group.findtext(f"{SVG}text") or ""] += 1
    assert shown == list_pieces(position)
    assert free == count_empty_spaces(position)
    assert str(position) in (root.findtext(f"{SVG}desc") or "")
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert all(str(board.score) in texts for board in position.boards)


def count_empty_spaces(position: Position) -> Counter[str]:
    """The empty spaces of all walls that are printed in a color."""
    empty: Counter[str] = Counter()
    for board in position.boards:
        for row, printed in zip(board.wall, position.rules.layout, strict=True):
            empty.update(color for tile, color in zip(row, printed, strict=True) if tile == "." and color in COLORS)
    return empty


@FEW
@given(NAMES)
def test_names_cannot_get_out_of_a_picture(name: str) -> None:
    plain = ElementTree.fromstring(draw_svg(STANDARD, names=("a", "b")))
    named = ElementTree.fromstring(draw_svg(STANDARD, names=(name, "</svg><script>alert(1)</script>\x1b[2J")))
    assert [element.tag for element in named.iter()] == [element.tag for element in plain.iter()]
    drawn = draw_text(STANDARD, names=(name, "\x1b[2J\n\a"))
    assert "\x1b" not in drawn
    assert len(drawn.splitlines()) == len(DRAWN.splitlines())


def test_names_that_differ_look_different() -> None:
    drawn = draw_text(STANDARD, names=("alpha_beta_2", "alpha_beta_3"))
    assert "seat 0: alpha_bet~2" in drawn
    assert "seat 1: alpha_bet~3" in drawn
    assert "seat 1: column_bui~ " in draw_text(STANDARD, names=("alpha_beta_2", "column_builder"))
    assert cut_names(["a_long_a_name", "a_long_b_name", "short"], 7) == ["a_lon~0", "a_lon~1", "short"]
    long = "path/to/somewhere/far/away/from/here.py:hoard_"
    assert "~e<" in draw_svg(STANDARD, names=(f"{long}blue", f"{long}blues"))


def test_svg_needs_nothing_from_elsewhere() -> None:
    drawn = draw_svg(MOSAIC)
    assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
    for forbidden in ("href", "url(", "@import", "<script", "<image", " id="):
        assert forbidden not in drawn
    assert re.findall(r"×\d", drawn) == ["×3", "×2", "×2", "×2", "×2"] * 2
    assert "prefers-color-scheme:dark" in drawn
    assert STANDARD._repr_svg_() == draw_svg(STANDARD)


def test_names_must_fit_the_seats() -> None:
    for draw in (draw_svg, draw_text):
        with pytest.raises(NotationError, match="names: there are 1 for 2 seats"):
            draw(STANDARD, names=("a",))
