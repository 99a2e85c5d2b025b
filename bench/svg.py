"""Charts as SVG text, with nothing but the standard library: axes, marks, labels. What they show is in plots.py."""
import html
import math

WIDTH, HEIGHT = 760, 360
LEFT, RIGHT, TOP, BOTTOM = 74, 20, 46, 52
INK, GREY, BLUE, RED, GREEN, PALE = "#1f2328", "#8c959f", "#0969da", "#cf222e", "#1a7f37", "#dafbe1"


class Axis:
    """Maps values to pixels, linearly or by logarithm."""

    def __init__(self, low, high, first, last, log=False):
        self.low, self.high, self.first, self.last, self.log = low, high, first, last, log

    def at(self, value):
        """Values beyond the ends are drawn at them."""
        value = min(max(value, self.low), self.high)
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        share = ((math.log(value) if self.log else value) - low) / (high - low)
        return self.first + share * (self.last - self.first)

    def ticks(self):
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            factors = (1, 2, 5) if len(decades) < 5 else (1,)
            every = [factor * 10.0 ** power for power in decades for factor in factors]
            return [tick for tick in every if self.low * 0.999 <= tick <= self.high * 1.001]
        rough = (self.high - self.low) / 5
        unit = 10 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        return [step * number for number in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)]


def horizontal(low, high, log=False):
    return Axis(low, high, LEFT, WIDTH - RIGHT, log)


def vertical(low, high, log=False):
    return Axis(low, high, HEIGHT - BOTTOM, TOP, log)


def text(x, y, words, size=12, anchor="start", colour=INK, turn=None):
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn is not None else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{turned}>'
            f"{html.escape(words)}</text>")


def line(x1, y1, x2, y2, colour=GREY, width=1.0, dash=None):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashed}/>')


def dot(x, y, colour=BLUE, radius=3.0, hollow=False):
    fill = f'fill="white" stroke="{colour}" stroke-width="1.4"' if hollow else f'fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {fill}/>'


def box(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def axes(x, y, x_label, y_label, x_text=None, y_text=None):
    """Both axes with their ticks; x may be None, for charts that label their own."""
    marks = [line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, INK), line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, INK)]
    for tick in x.ticks() if x else []:
        marks.append(line(x.at(tick), HEIGHT - BOTTOM, x.at(tick), HEIGHT - BOTTOM + 4, INK))
        marks.append(text(x.at(tick), HEIGHT - BOTTOM + 18, (x_text or "{:g}".format)(tick), 11, "middle"))
    for tick in y.ticks():
        marks.append(line(LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick), "#d8dee4", 0.7))
        marks.append(text(LEFT - 7, y.at(tick) + 4, (y_text or "{:g}".format)(tick), 11, "end"))
    marks.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label, 12, "middle"))
    marks.append(text(18, (TOP + HEIGHT - BOTTOM) / 2, y_label, 12, "middle", turn=-90))
    return marks


def document(title, subtitle, marks):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif">', box(0, 0, WIDTH, HEIGHT, "white"), text(LEFT, 20, title, 15),
        text(LEFT, 37, subtitle, 11, colour=GREY), *marks, "</svg>", ""])
