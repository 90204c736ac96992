"""Texts of Django and DRF that clients see, for `script/messages`.

Korean has another language code in DRF and another style in Django.
"""

from django.utils.translation import gettext_noop, ngettext_lazy

MESSAGES = (
    # Fields and validators of DRF.
    gettext_noop("Datetime value out of range."),
    gettext_noop("Enter a valid email address."),
    gettext_noop("Expected a date but got a datetime."),
    gettext_noop('Invalid datetime for the timezone "{timezone}".'),
    gettext_noop("Malformed request."),
    gettext_noop("No filename could be determined."),
    gettext_noop("Null characters are not allowed."),
    gettext_noop("Surrogate characters are not allowed: U+{code_point:X}."),
    gettext_noop("The submitted file is empty."),
    gettext_noop("This field is required."),
    gettext_noop("This field may not be blank."),
    gettext_noop("This field may not be null."),
    gettext_noop("This value does not match the required pattern."),
    # Django's password validators.
    gettext_noop("The password is too similar to the %(verbose_name)s."),
    gettext_noop("This password is entirely numeric."),
    gettext_noop("This password is too common."),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
