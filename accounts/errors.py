"""Every refusal of the accounts app."""

from core.errors import DomainError


class InvalidCredentials(DomainError):
    status = 401
    code = "INVALID_CREDENTIALS"
    detail = "Login id and password do not match."


class InvalidIdToken(DomainError):
    status = 401
    code = "INVALID_ID_TOKEN"
    detail = "The identity provider does not vouch for this token."


class IdentityProviderNotConfigured(DomainError):
    status = 503
    code = "IDP_NOT_CONFIGURED"
    detail = "Login by identity provider is not set up here."


class MemberSuspended(DomainError):
    status = 403
    code = "MEMBER_SUSPENDED"
    detail = "This account is suspended."


class SignupDisabled(DomainError):
    status = 403
    code = "SIGNUP_DISABLED"
    detail = "Sign-up is closed at the moment."


class SignupRefused(DomainError):
    code = "SIGNUP_REFUSED"
    detail = "The sign-up was refused."


class PasswordMismatch(DomainError):
    code = "PASSWORD_MISMATCH"
    detail = "The password is not right."


class PasswordUnchanged(DomainError):
    code = "PASSWORD_UNCHANGED"
    detail = "The new password equals the current one."


class PasswordNotSupported(DomainError):
    code = "PASSWORD_NOT_SUPPORTED"
    detail = "This account logs in by its identity provider and has no password."


class SelfChange(DomainError):
    code = "SELF_CHANGE"
    detail = "Administrators cannot change or delete their own account here."
