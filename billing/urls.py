"""URLs of billing, below /api/billing."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from billing import views

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("", views.BillingViewSet, "billing")

urlpatterns = [
    *router.urls,
    path("store/verify", views.VerifyPurchaseView.as_view(), name="verify-purchase"),
    path("store/rtdn", views.StoreNotificationView.as_view(), name="notification"),
]
