"""Charts as plain geometry: a template writes them as SVG, nothing else draws.

Whole numbers only, so that no locale changes how they are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 600, 120
"""Of the plot, in units of the SVG's view box."""
BAR_GAP = 4
"""Between two bars."""
MIN_BAR_HEIGHT = 2
"""A figure above 0 can be seen."""

Series = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure of one day; what is not known has no bar, and says so."""

    label: str
    text: str
    x: int
    y: int
    width: int
    height: int
    stacked_height: int
    """How much of its height is the second figure's."""
    is_known: bool

    @property
    def stacked_y(self) -> int:
        return HEIGHT - self.stacked_height


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars of days, their largest value, and a sentence that says what they show."""

    title: str
    summary: str
    bars: list[Bar]
    top: str
    first: str
    last: str
    stacked_label: str = ""
    """What the darker part of each bar is; empty without one."""


def build_daily_chart(
    title: str,
    days: Sequence[date],
    figures: Series,
    *,
    parts: Series | None = None,
    parts_name: str = "",
    unit: str = "",
) -> Chart:
    """A bar for each day; with `parts`, that share of it is drawn darker."""
    top = max([value for value in figures if value is not None], default=0)
    step = WIDTH // max(1, len(days))
    bars = []
    for place, (day, value) in enumerate(zip(days, figures, strict=True)):
        height = _bar_height(value, top)
        part = parts[place] if parts else None
        text = _format_value(value, unit)
        if parts is not None:
            text += f", {_format_value(part, unit)} {parts_name}"
        bars.append(
            Bar(
                label=f"{day:%Y-%m-%d}",
                text=text,
                x=place * step + BAR_GAP // 2,
                y=HEIGHT - height,
                width=step - BAR_GAP,
                height=height,
                stacked_height=_bar_height(part, top),
                is_known=value is not None,
            )
        )
    return Chart(
        title=title,
        summary=_summarize(days, figures, unit),
        bars=bars,
        top=_format_value(top, unit),
        first=f"{days[0]:%b %-d}",
        last=f"{days[-1]:%b %-d}",
        stacked_label=parts_name,
    )


def _bar_height(value: int | None, top: int) -> int:
    if not value or not top:
        return 0
    return max(MIN_BAR_HEIGHT, value * HEIGHT // top)


def _format_value(value: int | None, unit: str) -> str:
    return "not available" if value is None else f"{value:,}{unit}"


def _summarize(days: Sequence[date], figures: Series, unit: str) -> str:
    """What somebody who does not see the chart is told."""
    pairs = zip(figures, days, strict=True)
    known = [(value, day) for value, day in pairs if value is not None]
    if not known:
        return "No figures yet."
    most, when = max(known)
    if most == 0:
        return f"0 on {_format_day_count(known)} known."
    newest, last_day = known[-1]
    return (
        f"{_format_value(newest, unit)} on {last_day:%Y-%m-%d}; at most "
        f"{_format_value(most, unit)}, on {when:%Y-%m-%d}; {_format_day_count(known)} known."
    )


def _format_day_count(known: Sequence[object]) -> str:
    return "1 day" if len(known) == 1 else f"{len(known)} days"
