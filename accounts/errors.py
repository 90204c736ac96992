"""Every refusal of the accounts app."""

from core.errors import DomainError


class InvalidCredentialsError(DomainError):
    status = 401
    code = "INVALID_CREDENTIALS"
    detail = "Login id and password do not match."


class InvalidIdTokenError(DomainError):
    status = 401
    code = "INVALID_ID_TOKEN"
    detail = "The identity provider does not vouch for this token."


class IdentityProviderNotConfiguredError(DomainError):
    status = 503
    code = "IDP_NOT_CONFIGURED"
    detail = "Login by identity provider is not set up here."


class MemberSuspendedError(DomainError):
    status = 403
    code = "MEMBER_SUSPENDED"
    detail = "This account is suspended."


class SignupDisabledError(DomainError):
    status = 403
    code = "SIGNUP_DISABLED"
    detail = "Sign-up is closed at the moment."


class SignupRefusedError(DomainError):
    code = "SIGNUP_REFUSED"
    detail = "The sign-up was refused."


class PasswordMismatchError(DomainError):
    code = "PASSWORD_MISMATCH"
    detail = "The password is not right."


class PasswordUnchangedError(DomainError):
    code = "PASSWORD_UNCHANGED"
    detail = "The new password equals the current one."


class PasswordNotSupportedError(DomainError):
    code = "PASSWORD_NOT_SUPPORTED"
    detail = "This account logs in by its identity provider and has no password."


class SelfChangeError(DomainError):
    code = "SELF_CHANGE"
    detail = "Administrators cannot change or delete their own account here."
