"""App configurations of administration and of Django admin with its own site."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class AdministrationConfig(AppConfig):
    name = "administration"
    verbose_name = "Service"
    default = True


class ServiceAdminConfig(admin_apps.AdminConfig):
    default = False
    default_site = "administration.site.ServiceAdminSite"
