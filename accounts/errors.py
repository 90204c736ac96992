"""Errors of the accounts app."""

from typing import Any

from django.utils.translation import gettext_lazy

from accounts.models import Member
from core.errors import (
    RETRY_AFTER_SECONDS,
    DomainError,
    NotFoundError,
    RateLimitedError,
)


class InvalidCredentialsError(DomainError):
    status = 401
    code = "INVALID_CREDENTIALS"
    detail = gettext_lazy("The login id or password is incorrect.")


class InvalidIdTokenError(DomainError):
    status = 401
    code = "INVALID_ID_TOKEN"
    detail = gettext_lazy("The ID token is invalid.")


class IdentityProviderNotConfiguredError(DomainError):
    status = 503
    code = "IDP_NOT_CONFIGURED"
    detail = gettext_lazy("Login by identity provider is not configured.")


class MemberNotFoundError(NotFoundError):
    detail = gettext_lazy("Member not found.")


class MemberSuspendedError(DomainError):
    status = 403
    code = "MEMBER_SUSPENDED"
    detail = gettext_lazy("This account is suspended.")

    @classmethod
    def of(cls, member: Member) -> "MemberSuspendedError":
        """Tell the member until when, and why."""
        members: dict[str, Any] = {}
        if member.suspended_until is not None:
            members["until"] = member.suspended_until
        if member.suspension_reason:
            members["reason"] = member.suspension_reason
        return cls(members=members)


class SecondFactorRequiredError(DomainError):
    status = 401
    code = "SECOND_FACTOR_REQUIRED"
    detail = gettext_lazy("Send a code of the second factor with the ticket.")


class ReauthenticationRequiredError(DomainError):
    status = 403
    code = "REAUTHENTICATION_REQUIRED"
    detail = gettext_lazy("Authenticate again to do this.")


class LinkingRefusedError(DomainError):
    status = 403
    code = "LINKING_REFUSED"
    detail = gettext_lazy(
        "The account with this email address cannot be linked by it. Log in with login "
        "id and password."
    )


class LastCredentialError(DomainError):
    status = 409
    code = "LAST_CREDENTIAL"
    detail = gettext_lazy(
        "It is the only way into this account. Set a password before you remove it."
    )


class SignupDisabledError(DomainError):
    status = 403
    code = "SIGNUP_DISABLED"
    detail = gettext_lazy("Sign-up is currently closed.")


class SwitchedOffError(DomainError):
    status = 403
    code = "SWITCHED_OFF"
    detail = gettext_lazy("The operator has switched this off for now.")


class SignupRefusedError(DomainError):
    code = "SIGNUP_REFUSED"
    detail = gettext_lazy("The sign-up was refused.")


class PasswordMismatchError(DomainError):
    code = "PASSWORD_MISMATCH"
    detail = gettext_lazy("The password is incorrect.")


class PasswordUnchangedError(DomainError):
    code = "PASSWORD_UNCHANGED"
    detail = gettext_lazy("The new password must differ from the current one.")


class PasswordNotSupportedError(DomainError):
    code = "PASSWORD_NOT_SUPPORTED"
    detail = gettext_lazy(
        "This account logs in by identity provider and has no password."
    )


class MailNotConfiguredError(DomainError):
    status = 503
    code = "MAIL_NOT_CONFIGURED"
    detail = gettext_lazy("This service sends no mails.")


class CodeInvalidError(DomainError):
    code = "CODE_INVALID"
    detail = gettext_lazy("The code is wrong or no longer valid.")


class AlreadyVerifiedError(DomainError):
    status = 409
    code = "ALREADY_VERIFIED"
    detail = gettext_lazy("The email address is already verified.")


class EmailNotVerifiedError(DomainError):
    status = 403
    code = "EMAIL_NOT_VERIFIED"
    detail = gettext_lazy("Verify your email address first.")


class ConsentRequiredError(DomainError):
    status = 403
    code = "CONSENT_REQUIRED"
    detail = gettext_lazy("Agree to the documents first.")


class AdministratorProfileError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = gettext_lazy("The profile of another administrator cannot be changed.")


class StaffFactorError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = gettext_lazy("The second factor of an administrator cannot be ended here.")


class SelfChangeError(DomainError):
    code = "SELF_CHANGE"
    detail = gettext_lazy(
        "Administrators cannot change or delete their own account here."
    )


class TooManyHashesError(RateLimitedError):
    """The client's address has as many passwords compared at once as it may."""

    def __init__(self) -> None:
        super().__init__(1)


class HashingBusyError(DomainError):
    """Other addresses have passwords compared, and none ended in time."""

    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy("The service is currently busy. Try again later.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
