"""URLs of the board's peers."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from benchmarks.baseline.board_views import PostViewSet, list_first_page

router = SimpleRouter(trailing_slash=False)
router.register("posts", PostViewSet, "posts")
urlpatterns = [path("one-sql", list_first_page), path("", include(router.urls))]
