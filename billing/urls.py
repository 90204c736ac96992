"""The addresses of billing, below /api/billing."""

from django.urls import path

from billing import views

urlpatterns = [
    path("products", views.ProductsView.as_view()),
    path("store/verify", views.VerifyPurchaseView.as_view()),
    path("store/rtdn", views.StoreNotificationView.as_view()),
    path("subscription", views.SubscriptionView.as_view()),
    path("cancel", views.CancelView.as_view()),
    path("resume", views.ResumeView.as_view()),
    path("restore", views.RestoreView.as_view()),
]
