"""App configurations of administration and Django admin."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.utils.translation import gettext_lazy as _


class AdministrationConfig(AppConfig):
    name = "administration"
    verbose_name = _("Service")
    default = True


class ServiceAdminConfig(admin_apps.AdminConfig):
    default = False
    default_site = "administration.site.ServiceAdminSite"
