"""The peer's addresses."""

from django.urls import path

from benchmarks.baseline.views import EntryList, EntryValues, PostList, SessionView

urlpatterns = [
    path("session", SessionView.as_view()),
    path("entries", EntryList.as_view()),
    path("posts", PostList.as_view()),
    path("entries/values", EntryValues.as_view()),
]
