"""Line charts as SVG, with nothing but Python: small files, the same bytes for the same figures."""

import html
import math

PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP, LINE = 330, 240, 62, 54, 62, 15
PANELS_ACROSS = 3
ROW = PANEL_HEIGHT + 80  # from one row of panels to the next
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")


def text(x, y, content, size=11, anchor="middle", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {more}>'
            f"{html.escape(content)}</text>")


def name_of(value):
    """A number as an axis shows it."""
    if value == 0:
        return "0"
    if 0.001 <= abs(value) < 100_000:
        return f"{value:,.6g}"
    mantissa, power = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(power)}"


class Axis:
    """Values onto pixels, logarithmic or linear. With `zero_at` a logarithmic axis has a place for
    0, left of its lowest value."""

    def __init__(self, low, high, begin, end, logarithmic=True, zero_at=None):
        self.logarithmic, self.zero_at = logarithmic, zero_at
        self.low, self.high = low, high
        self.begin, self.end = begin, end

    def _scaled(self, value):
        return math.log(value) if self.logarithmic else value

    def __call__(self, value):
        if value == 0 and self.logarithmic:
            return self.zero_at if self.zero_at is not None else self.begin
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(value) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        if not self.logarithmic:
            return [self.low + (self.high - self.low) * i / 5 for i in range(6)]
        powers = range(math.ceil(math.log10(self.low) - 1e-9),
                       math.floor(math.log10(self.high) + 1e-9) + 1)
        ticks = [10.0 ** power for power in powers]
        return ticks if len(ticks) > 1 else [self.low, self.high]


def axis(values, begin, end, logarithmic=True, wholly=True):
    """An axis for these values; `wholly`: to the next powers of ten."""
    if not logarithmic:
        return Axis(0, max(values), begin, end, False)
    above = [value for value in values if value > 0]
    low, high = min(above), max(above)
    if wholly:
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
    if low == high:
        high = low * 10
    zero = begin if 0 in values else None
    return Axis(low, high, begin + (36 if zero is not None else 0), end, True, zero)


def panel(one, left, styles, panel_width):
    """One panel: {title, x, y (labels), lines: {name: [(x, y)]}, marks: [(y, name)], log_y}."""
    bottom, right = TOP + PANEL_HEIGHT, left + panel_width
    points = [point for line in one["lines"].values() for point in line]
    across = axis([x for x, _ in points], left + 12, right - 12, wholly=False)
    heights = [y for _, y in points] + [y for y, _ in one.get("marks", [])]
    up = axis(heights, bottom, TOP, one.get("log_y", True))
    parts = [text(left + panel_width / 2, TOP - 10, one["title"], 12)]
    for y in up.ticks():
        parts.append(f'<line x1="{left}" x2="{right}" y1="{up(y):.1f}" y2="{up(y):.1f}" '
                     'stroke="#dddddd"/>')
        parts.append(text(left - 6, up(y) + 4, name_of(round(y, 12)), 10, "end"))
    places = sorted({x for x, _ in points})
    for x in places if len(places) <= 10 else [0] * (0 in places) + across.ticks():
        parts.append(f'<line x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{bottom}" '
                     f'y2="{bottom + 4}" stroke="#888888"/>')
        parts.append(text(across(x), bottom + 16, name_of(x), 9))
    parts.append(f'<rect x="{left}" y="{TOP}" width="{panel_width}" height="{PANEL_HEIGHT}" '
                 'fill="none" stroke="#888888"/>')
    for y, name in one.get("marks", []):
        parts.append(f'<line x1="{left}" x2="{right}" y1="{up(y):.1f}" y2="{up(y):.1f}" '
                     'stroke="#666666" stroke-dasharray="2 3"/>')
        parts.append(text(right - 4, up(y) - 3, name, 9, "end", 'fill="#666666"'))
    for name, line in one["lines"].items():
        colour, dashes = styles[name]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in sorted(line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8" '
                     f'stroke-dasharray="{dashes}"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2" fill="{colour}"/>'
                  for x, y in line]
    parts.append(text(left + panel_width / 2, bottom + 32, one["x"], 11))
    parts.append(text(left - 46, TOP + PANEL_HEIGHT / 2, one["y"], 11, more=(
        f'transform="rotate(-90 {left - 46:.1f} {TOP + PANEL_HEIGHT / 2:.1f})"')))
    return parts


def chart(title, panels, columns=3, width=PANEL_WIDTH):
    """All panels, three in a row, with one legend for their lines."""
    names = list(dict.fromkeys(name for one in panels for name in one["lines"]))
    styles = {name: (COLOURS[i % len(COLOURS)], ("", "6 3", "2 3")[i // len(COLOURS) % 3])
              for i, name in enumerate(names)}
    rows = -(-len(names) // columns)
    whole = LEFT + min(len(panels), PANELS_ACROSS) * (width + GAP) - GAP + 16
    legend = TOP + -(-len(panels) // PANELS_ACROSS) * ROW - 26
    height = legend + rows * LINE + 4
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{height}" '
             f'viewBox="0 0 {whole} {height}" font-family="sans-serif">',
             '<rect width="100%" height="100%" fill="#ffffff"/>', text(whole / 2, 20, title, 14)]
    for i, one in enumerate(panels):
        across, down = i % PANELS_ACROSS * (width + GAP), i // PANELS_ACROSS * ROW
        parts += [f'<g transform="translate({across} {down})">', *panel(one, LEFT, styles, width), "</g>"]
    for i, name in enumerate(names):
        x = LEFT + i // rows * (whole - LEFT) / columns
        y = legend + i % rows * LINE
        colour, dashes = styles[name]
        parts.append(f'<line x1="{x:.1f}" x2="{x + 26:.1f}" y1="{y - 4}" y2="{y - 4}" '
                     f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        parts.append(text(x + 32, y, name, 11, "start"))
    return "\n".join(parts + ["</svg>"]) + "\n"
