"""Bar charts, written as SVG by a template.

All numbers are whole, so that no locale changes how the template writes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext, ngettext

# Size of the plot, in units of the SVG's view box.
WIDTH, HEIGHT = 600, 120
BAR_GAP = 4
MIN_BAR_HEIGHT = 2
# Days between two labels.
LABEL_DAYS = 7

# Daily values, None where a value is not available.
Series = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Bar:
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
class Tick:
    position: int
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart with axes and a text alternative."""

    title: str
    summary: str
    # Sum of all days, or the newest value of a gauge.
    total: str
    bars: list[Bar]
    value_ticks: list[Tick]
    day_ticks: list[Tick]
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
    is_summable: bool = True,
) -> Chart:
    """Build a chart with a bar for each day.

    `stacked_values` are the darker parts of `values`. A gauge, such as a number of
    members, is not `is_summable`: it has no total.
    """
    top = round_up(max([value for value in values if value is not None], default=0))
    step = WIDTH // max(1, len(days))
    bars = []
    for index, (day, value) in enumerate(zip(days, values, strict=True)):
        height = _bar_height(value, top)
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
                stacked_height=_bar_height(stacked, top),
                is_known=value is not None,
            )
        )
    return Chart(
        title=title,
        summary=_summarize(days, values, unit),
        total=_describe_total(values, unit, is_summable=is_summable),
        bars=bars,
        value_ticks=[
            Tick(HEIGHT - value * HEIGHT // top, _format_value(value, unit))
            for value in sorted({0, top // 2, top})
        ],
        # The axis is counted from today, so that today has a label.
        day_ticks=[
            Tick(index * step + step // 2, f"{days[index].month}/{days[index].day}")
            for index in range(len(days) - 1, -1, -LABEL_DAYS)
        ],
        stacked_label=stacked_label,
    )


def round_up(value: int) -> int:
    """Return the next number with one digit that is no zero, even unless it is 1."""
    power = 1
    while power * 10 < value:
        power *= 10
    return next(
        digit * power for digit in (1, 2, 4, 6, 8, 10) if digit * power >= value
    )


def _bar_height(value: int | None, top: int) -> int:
    return max(MIN_BAR_HEIGHT, value * HEIGHT // top) if value else 0


def _format_value(value: int | None, unit: str) -> str:
    return gettext("not available") if value is None else f"{value:,}{unit}"


def _describe_total(values: Series, unit: str, *, is_summable: bool) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    if not is_summable:
        return _format_value(known[-1], unit)
    return gettext("{total} in {days} days").format(
        total=_format_value(sum(known), unit), days=len(values)
    )


def _summarize(days: Sequence[date], values: Series, unit: str) -> str:
    pairs = zip(values, days, strict=True)
    known = [(value, day) for value, day in pairs if value is not None]
    if not known:
        return gettext("No data yet.")
    coverage = ngettext(
        "data for {count} day", "data for {count} days", len(known)
    ).format(count=len(known))
    max_value, max_day = max(known)
    if max_value == 0:
        return gettext("0 throughout; {coverage}.").format(coverage=coverage)
    last_value, last_day = known[-1]
    return gettext(
        "{last} on {last_day}; maximum {largest} on {largest_day}; {coverage}."
    ).format(
        last=_format_value(last_value, unit),
        last_day=f"{last_day:%Y-%m-%d}",
        largest=_format_value(max_value, unit),
        largest_day=f"{max_day:%Y-%m-%d}",
        coverage=coverage,
    )
