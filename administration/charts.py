"""Geometry of the bar charts that a template writes as SVG.

All numbers are whole, so that no locale changes how the template writes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

# Size of the plot, in units of the SVG's view box.
WIDTH, HEIGHT = 600, 120
BAR_GAP = 4
# Keeps the bar of a small value visible.
MIN_BAR_HEIGHT = 2

# Daily values, None where a value is not available.
Series = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Bar:
    """The value of one day; a day without a value has height 0."""

    label: str
    text: str
    x: int
    y: int
    width: int
    height: int
    # Height of the darker, lower part of a stacked bar.
    stacked_height: int
    is_known: bool

    @property
    def stacked_y(self) -> int:
        return HEIGHT - self.stacked_height


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart of daily values with its axis labels and a text alternative."""

    title: str
    summary: str
    bars: list[Bar]
    max_label: str
    first_label: str
    last_label: str
    # Name of the darker parts; empty if the bars are not stacked.
    stacked_label: str = ""


def build_daily_chart(
    title: str,
    days: Sequence[date],
    values: Series,
    *,
    stacked_values: Series | None = None,
    stacked_label: str = "",
    unit: str = "",
) -> Chart:
    """Build a chart with a bar for each day.

    `stacked_values` are the parts of `values` that are drawn darker.
    """
    max_value = max([value for value in values if value is not None], default=0)
    step = WIDTH // max(1, len(days))
    bars = []
    for index, (day, value) in enumerate(zip(days, values, strict=True)):
        height = _bar_height(value, max_value)
        stacked = stacked_values[index] if stacked_values else None
        text = _format_value(value, unit)
        if stacked_values is not None:
            text += f", {_format_value(stacked, unit)} {stacked_label}"
        bars.append(
            Bar(
                label=f"{day:%Y-%m-%d}",
                text=text,
                x=index * step + BAR_GAP // 2,
                y=HEIGHT - height,
                width=step - BAR_GAP,
                height=height,
                stacked_height=_bar_height(stacked, max_value),
                is_known=value is not None,
            )
        )
    return Chart(
        title=title,
        summary=_summarize(days, values, unit),
        bars=bars,
        max_label=_format_value(max_value, unit),
        first_label=f"{days[0]:%b %-d}",
        last_label=f"{days[-1]:%b %-d}",
        stacked_label=stacked_label,
    )


def _bar_height(value: int | None, max_value: int) -> int:
    if not value or not max_value:
        return 0
    return max(MIN_BAR_HEIGHT, value * HEIGHT // max_value)


def _format_value(value: int | None, unit: str) -> str:
    return "not available" if value is None else f"{value:,}{unit}"


def _summarize(days: Sequence[date], values: Series, unit: str) -> str:
    """Return the text alternative of a chart: its newest and its largest value."""
    pairs = zip(values, days, strict=True)
    known = [(value, day) for value, day in pairs if value is not None]
    if not known:
        return "No data yet."
    coverage = "data for 1 day" if len(known) == 1 else f"data for {len(known)} days"
    max_value, max_day = max(known)
    if max_value == 0:
        return f"0 throughout; {coverage}."
    last_value, last_day = known[-1]
    return (
        f"{_format_value(last_value, unit)} on {last_day:%Y-%m-%d}; maximum "
        f"{_format_value(max_value, unit)} on {max_day:%Y-%m-%d}; {coverage}."
    )
