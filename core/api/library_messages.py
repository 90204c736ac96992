"""Texts of Django and DRF that clients see, for the catalogues of translations.

DRF has its Korean under another code of the language, and Django's has another style.
Nothing imports this module: the extraction reads it (`script/messages`).
"""

from django.utils.translation import gettext_noop, ngettext_lazy

MESSAGES = (
    # Fields and validators of DRF.
    gettext_noop('"{input}" is not a valid choice.'),
    gettext_noop("A valid integer is required."),
    gettext_noop("A valid number is required."),
    gettext_noop("Date has wrong format. Use one of these formats instead: {format}."),
    gettext_noop(
        "Datetime has wrong format. Use one of these formats instead: {format}."
    ),
    gettext_noop("Datetime value out of range."),
    gettext_noop("Enter a valid email address."),
    gettext_noop(
        "Ensure that there are no more than {max_decimal_places} decimal places."
    ),
    gettext_noop("Ensure that there are no more than {max_digits} digits in total."),
    gettext_noop(
        "Ensure that there are no more than {max_whole_digits} digits before the "
        "decimal point."
    ),
    gettext_noop("Ensure this field has at least {min_length} characters."),
    gettext_noop("Ensure this field has at least {min_length} elements."),
    gettext_noop("Ensure this field has no more than {max_length} characters."),
    gettext_noop("Ensure this field has no more than {max_length} elements."),
    gettext_noop(
        "Ensure this filename has at most {max_length} characters (it has {length})."
    ),
    gettext_noop("Ensure this value is greater than or equal to {min_value}."),
    gettext_noop("Ensure this value is less than or equal to {max_value}."),
    gettext_noop("Expected a date but got a datetime."),
    gettext_noop("Expected a datetime but got a date."),
    gettext_noop('Expected a dictionary of items but got type "{input_type}".'),
    gettext_noop('Expected a list of items but got type "{input_type}".'),
    gettext_noop("Incorrect type. Expected pk value, received {data_type}."),
    gettext_noop("Invalid data. Expected a dictionary, but got {datatype}."),
    gettext_noop('Invalid datetime for the timezone "{timezone}".'),
    gettext_noop('Invalid pk "{pk_value}" - object does not exist.'),
    gettext_noop("Malformed request."),
    gettext_noop("Must be a valid boolean."),
    gettext_noop("No file was submitted."),
    gettext_noop("No filename could be determined."),
    gettext_noop("Not a valid string."),
    gettext_noop("Null characters are not allowed."),
    gettext_noop("String value too large."),
    gettext_noop("Surrogate characters are not allowed: U+{code_point:X}."),
    gettext_noop(
        "The submitted data was not a file. Check the encoding type on the form."
    ),
    gettext_noop("The submitted file is empty."),
    gettext_noop("This dictionary may not be empty."),
    gettext_noop("This field is required."),
    gettext_noop("This field may not be blank."),
    gettext_noop("This field may not be null."),
    gettext_noop("This list may not be empty."),
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
