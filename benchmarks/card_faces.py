"""Make the pictures of cards that the table shows on wide screens: one file of symbols, small enough to send at once.

``npm pack @heruka_urgyen/react-playing-cards @letele/playing-cards`` fetches Adrian Kennard's cards, which are in the
public domain (CC0). ``python benchmarks/card_faces.py heruka_urgyen-*.tgz letele-*.tgz src/fogplay/pictures/faces``
then writes ``cards.svg`` and the licence.

The set with large corners is the base. Court figures come from the other set, where they are larger, jokers get a
word in their corner, and whatever has the colour of its suit becomes ``currentColor``.
"""

from __future__ import annotations

import argparse
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

RANKS, SUITS = "23456789TJQKA", "cdhs"
COURTS = "JQK"
LARGE, NORMAL = "package/src/images/4color-bf", "package/src/images/2color"
CARD = 'viewBox="-120 -168 240 336"'
PAPER = (
    '<rect width="238" height="334" x="-119" y="-167" rx="12" fill="var(--fp-face,#fff)" '
    'stroke="var(--fp-line,#888)" stroke-width="2"/>'
)
FIGURE = (1300, 2000)  # the box in which court figures and jokers are drawn
FRAME = (164.8, 260.8)  # the frame of a court card of the normal set
SMALLER = 0.77  # of that frame, so that a large corner fits beside it
ACE = 90  # the height of its pip
ROUND = 'stroke-linecap="round" stroke-linejoin="round"'
TURNED = '<g transform="rotate(180)">'
LENGTHS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7, "z": 0}
TOKEN = re.compile(r"[a-zA-Z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cards", type=Path, help="the package @heruka_urgyen/react-playing-cards")
    parser.add_argument("second", type=Path, help="the package @letele/playing-cards, with the coloured joker")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    with tarfile.open(given.cards) as cards, tarfile.open(given.second) as second:
        made = sheet(cards, read(second, "package/dist/index.esm.js"))
        licence = read(second, "package/LICENSE")
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "cards.svg").write_text(made)
    (given.folder / "LICENSE.txt").write_text(
        "The cards in cards.svg were drawn by Adrian Kennard (https://www.me.uk/cards/) and are in the public domain\n"
        "under the following dedication. They were made smaller by benchmarks/card_faces.py from the packages\n"
        "@heruka_urgyen/react-playing-cards 0.5.0 and @letele/playing-cards 0.1.0 (the coloured joker).\n\n"
        f"{licence}"
    )
    print(f"{len(made):,} bytes")


def read(packed: tarfile.TarFile, name: str) -> str:
    found = packed.extractfile(name)
    assert found is not None, name
    return found.read().decode()


def sheet(cards: tarfile.TarFile, script: str) -> str:
    """All cards as symbols ``face-Kh``, ``face-joker-red``, ``face-back``; shapes that they share come first."""
    parts = [*shapes(cards)]
    for rank in RANKS:
        for suit in SUITS:
            parts.append(symbol(rank + suit, court(cards, rank, suit) if rank in COURTS else number(cards, rank, suit)))
    parts.append(symbol("joker-black", joker(figure_of(read(cards, f"{LARGE}/2J.svg")))))
    parts.append(symbol("joker-red", joker(figure_of(as_svg(script, "SvgJ1")))))
    parts.append(back(read(cards, "package/src/images/back.svg")))
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>\n'


def symbol(name: str, inside: str) -> str:
    return f'<symbol id="face-{name}" {CARD}>{PAPER}{inside}</symbol>'


def shapes(cards: tarfile.TarFile) -> Iterator[str]:
    """Ranks ``vK`` and suits ``sh``, in the colour of their place."""
    for rank in RANKS:
        path = paths(read(cards, f"{LARGE}/{rank}S.svg"), f"VS{rank}")[0]
        drawn = f'd="{compact(path.attrib["d"])}" fill="none" stroke="currentColor" stroke-width="105"'
        yield (
            f'<symbol id="v{rank}" viewBox="-500 -500 1000 1000"><path {drawn} stroke-linecap="square" '
            'stroke-miterlimit="1.5"/></symbol>'
        )
    for suit in SUITS:
        path = paths(read(cards, f"{LARGE}/2{suit.upper()}.svg"), f"S{suit.upper()}2")[0]
        drawn = f'<path d="{compact(path.attrib["d"])}" fill="currentColor"/>'
        yield f'<symbol id="s{suit}" viewBox="-600 -600 1200 1200">{drawn}</symbol>'


def number(cards: tarfile.TarFile, rank: str, suit: str) -> str:
    """Corners and pips; those in the turned half stand there again."""
    root = parsed(read(cards, f"{LARGE}/{rank}{suit.upper()}.svg"))
    upright = "".join(placed(each, rank, suit) for each in root if each.tag == "use")
    turned = "".join(placed(each, rank, suit) for group in root if group.tag == "g" for each in group)
    return f"{upright}{TURNED}{turned}</g>"


def court(cards: tarfile.TarFile, rank: str, suit: str) -> str:
    """The figure in its frame, both halves, and the corners."""
    text = read(cards, f"{NORMAL}/{rank}{suit.upper()}.svg")
    wide, high = (SMALLER * side for side in FRAME)
    frame = f'<rect x="{-wide / 2:.1f}" y="{-high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}"'
    corner = next(each for each in parsed(text).iter("use") if each.get("height") == "55.68")
    pip = placed(corner, rank, suit, SMALLER)
    large = parsed(read(cards, f"{LARGE}/{rank}{suit.upper()}.svg"))
    edge = "".join(placed(each, rank, suit) for each in large if each.tag == "use" and float(each.get("x", 0)) < -110)
    figure = f"{stretched(wide, high)}{halves(text, suit)}</g>"
    return f'{figure}{frame} fill="none" stroke="#44F"/>{edge}{pip}{TURNED}{edge}{pip}</g>'


def halves(text: str, suit: str) -> str:
    """The layers of a court figure, each twice: the lower half is the upper one, turned."""
    made = []
    for layer in parsed(text).iter("symbol"):
        name = layer.get("id", "")
        if layer.get("viewBox") != "0 0 1300 2000":
            continue
        inside = "".join(piece(each, suit) for each in layer)
        made.append(f'<g id="{name}">{inside}</g><use href="#{name}" transform="rotate(180 650 1000)"/>')
    return "".join(made)


def joker(figure: str) -> str:
    """The figure, and in the corners what a card beneath others can be known by."""
    letters = "".join(f'<tspan x="-101" dy="34">{letter}</tspan>' for letter in "JOKER")
    font = 'font-family="system-ui,sans-serif" font-size="34" font-weight="700" text-anchor="middle"'
    word = f'<text y="-162" {font} style="fill:currentColor">{letters}</text>'
    wide, high = 0.74 * 202.8, 0.74 * 312
    return f"{stretched(wide, high)}{figure}</g>{word}{TURNED}{word}</g>"


def figure_of(text: str) -> str:
    """The layers of a joker, from the lowest to the highest."""
    root = parsed(text)
    layers = {each.get("id"): each for each in root.iter("symbol")}
    order = [each.get("href", "")[1:] for each in root if each.tag == "use"]
    return "".join(painted(path) for name in order for path in layers[name])


def back(text: str) -> str:
    """The back of all cards, in the table's own colour."""
    lozenge = next(parsed(text).iter("path")).get("d", "")
    pattern = f'<path d="{compact(lozenge)}" fill="#fff"/>'
    size = 'x="-108" y="-156" width="216" height="312" rx="12"'
    return (
        f'<pattern id="lozenges" width="12" height="12" patternUnits="userSpaceOnUse" viewBox="0 0 6 6">{pattern}'
        f'</pattern><symbol id="face-back" {CARD}>{PAPER}<rect {size} fill="currentColor"/>'
        f'<rect {size} fill="url(#lozenges)" stroke="currentColor" stroke-width="6"/></symbol>'
    )


def stretched(wide: float, high: float) -> str:
    """A group that fits the box of figures into a rectangle around the middle of the card."""
    x, y = wide / FIGURE[0], high / FIGURE[1]
    return f'<g transform="matrix({x:.4f} 0 0 {y:.4f} {-wide / 2:.2f} {-high / 2:.2f})">'


def placed(each: ElementTree.Element, rank: str, suit: str, scale: float = 1.0) -> str:
    """A rank or a suit at its place; ``scale`` is about the middle of the card."""
    kind = f"v{rank}" if each.get("href", "").startswith("#V") else f"s{suit}"
    x, y, height = (scale * float(each.get(name, 0)) for name in ("x", "y", "height"))
    if rank == "A" and x == y == -20:
        x, y, height = -ACE / 2, -ACE / 2, ACE
    return f'<use href="#{kind}" x="{short(x)}" y="{short(y)}" width="{short(height)}" height="{short(height)}"/>'


def piece(each: ElementTree.Element, suit: str) -> str:
    """A part of a court figure: a path, a suit, or a group of them, which may be mirrored."""
    if each.tag == "g":
        return f'<g transform="{each.attrib["transform"]}">{"".join(piece(part, suit) for part in each)}</g>'
    return painted(each) if each.tag == "path" else pip_of(each, suit)


def pip_of(each: ElementTree.Element, suit: str) -> str:
    """A small suit within a figure."""
    kept = "".join(f' {name}="{value}"' for name, value in each.attrib.items() if name not in ("href", "height"))
    height = each.get("height")
    return f'<use href="#s{suit}" width="{height}" height="{height}"{kept}/>'


def painted(path: ElementTree.Element) -> str:
    """A path of a figure with its colours."""
    kept = "".join(
        f' {name}="{path.get(name)}"' for name in ("fill", "stroke", "stroke-width") if path.get(name) is not None
    )
    ends = f" {ROUND}" if path.get("stroke") else ""
    return f'<path{kept}{ends} d="{compact(path.attrib["d"])}"/>'


def paths(text: str, name: str) -> list[ElementTree.Element]:
    return [path for each in parsed(text).iter("symbol") if each.get("id") == name for path in each]


def parsed(text: str) -> ElementTree.Element:
    """A drawing without the names of namespaces."""
    return ElementTree.fromstring(re.sub(r'xmlns(:\w+)?="[^"]*"|xlink:', "", text))


def as_svg(script: str, name: str) -> str:
    """A drawing that is written as calls of React, as SVG: symbols with one path each, and the order of their use."""
    start = script.index(f"const {name} =")
    body = script[start : script.index("\n};", start)]
    symbols = []
    for found in re.finditer(r'createElement\("symbol", \{(.*?)\}, .*?createElement\("path", \{(.*?)\}\)', body, re.S):
        given = dict(re.findall(r'(\w+): "?([^",\n]+(?:,[^"\n]+)?)"?', found[2]))
        names = {"strokeWidth": "stroke-width"}
        kept = "".join(f' {names.get(key, key)}="{value}"' for key, value in given.items() if key[:6] != "strokeL")
        identity = re.search(r'id: "([^"]+)"', found[1])
        assert identity is not None
        symbols.append(f'<symbol id="{identity[1]}"><path{kept}/></symbol>')
    order = "".join(f'<use href="{each}"/>' for each in re.findall(r'xlinkHref: "([^"]+)"', body))
    return f"<svg><defs>{''.join(symbols)}</defs>{order}</svg>"


def short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0").replace("-0.", "-.").removeprefix("+")


def compact(path: str) -> str:
    """A path in whole numbers, by relative commands; errors of rounding do not add up, since places are tracked."""
    made: list[str] = []
    at, kept, start = [0.0, 0.0], [0, 0], [0.0, 0.0]  # the point as drawn, as written, and where the outline began
    for command, numbers in commands(path):
        low = command.lower()
        if low == "z":
            made.append("z")
            at, kept = list(start), [round(start[0]), round(start[1])]
            continue
        base = at if command.islower() else [0.0, 0.0]
        points = absolute(low, numbers, base, at)
        written = [round(value) - kept[place % 2] for place, value in enumerate(points)]
        at, kept = points[-2:], [round(points[-2]), round(points[-1])]
        if low == "m":
            start = list(at)
        if low in "hv":
            made.append(low + str(written[0 if low == "h" else 1]))
        elif low == "a":
            radii = [f"{max(value, 0.1):.1f}".removesuffix(".0") for value in numbers[:2]]
            made.append("a" + joined([*radii, *(f"{value:g}" for value in numbers[2:5]), *map(str, written)]))
        else:
            made.append(low + joined(list(map(str, written))))
    return squeezed(made)


def absolute(low: str, numbers: list[float], base: list[float], at: list[float]) -> list[float]:
    """The points of a command as absolute coordinates, in pairs."""
    if low == "h":
        return [base[0] + numbers[0], at[1]]
    if low == "v":
        return [at[0], base[1] + numbers[0]]
    points = numbers[5:] if low == "a" else numbers
    return [value + base[place % 2] for place, value in enumerate(points)]


def commands(path: str) -> Iterator[tuple[str, list[float]]]:
    """Commands with one set of numbers each; a repeated ``m`` is an ``l``. Flags of arcs stand apart in these files."""
    tokens = TOKEN.findall(path)
    place, command = 0, ""
    while place < len(tokens):
        if tokens[place].isalpha():
            command, place = tokens[place], place + 1
        elif command in "mM":
            command = "l" if command == "m" else "L"
        length = LENGTHS[command.lower()]
        yield command, [float(each) for each in tokens[place : place + length]]
        place += length


def joined(numbers: list[str]) -> str:
    """Numbers with a space only where one is needed."""
    return "".join(each if each.startswith("-") or not place else f" {each}" for place, each in enumerate(numbers))


def squeezed(made: list[str]) -> str:
    """Commands without letters that repeat."""
    text, last = "", ""
    for each in made:
        letter, rest = each[0], each[1:]
        same = letter == last and letter not in "mz"
        text += (rest if rest.startswith("-") else f" {rest}") if same else each
        last = letter
    return text


if __name__ == "__main__":
    main()
