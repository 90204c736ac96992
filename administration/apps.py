"""The app of the administrators' area, and Django admin with our own site."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class AdministrationConfig(AppConfig):
    name = "administration"
    default = True


class ServiceAdminConfig(admin_apps.AdminConfig):
    default = False
    default_site = "administration.site.ServiceAdminSite"
