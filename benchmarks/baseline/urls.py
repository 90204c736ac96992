"""URLs of the baseline."""

from django.urls import path

from benchmarks.baseline.views import (
    EntryListView,
    EntryValuesView,
    SessionView,
)

urlpatterns = [
    path("session", SessionView.as_view()),
    path("entries", EntryListView.as_view()),
    path("entries/values", EntryValuesView.as_view()),
]
