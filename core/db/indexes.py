"""Indexes of tables whose rows are in the order of their writing."""

from django.contrib.postgres.indexes import BrinIndex, OpClass


def index_by_writing_time(name: str) -> BrinIndex:
    """Return an index that finds the rows written on a day, by `created_at`.

    It takes a few kilobytes: it keeps ranges of times of each range of pages.
    """
    return BrinIndex(
        OpClass("created_at", name="timestamptz_minmax_multi_ops"),
        autosummarize=True,
        name=name,
    )
