"""URLs of billing, below /api/billing."""

from django.urls import path

from billing import views

urlpatterns = [
    path("products", views.ProductsView.as_view(), name="products"),
    path(
        "store/verify", views.VerifyPurchaseView.as_view(), name="purchase-verification"
    ),
    path(
        "store/rtdn", views.StoreNotificationView.as_view(), name="store-notification"
    ),
    path("account-token", views.AccountTokenView.as_view(), name="account-token"),
    path("subscription", views.SubscriptionView.as_view(), name="subscription"),
    path("cancel", views.CancelSubscriptionView.as_view(), name="cancel-subscription"),
    path("resume", views.ResumeSubscriptionView.as_view(), name="resume-subscription"),
    path(
        "restore", views.RestoreSubscriptionView.as_view(), name="restore-subscription"
    ),
]
