"""Errors of the accounts app."""

from core.errors import DomainError


class InvalidCredentialsError(DomainError):
    status = 401
    code = "INVALID_CREDENTIALS"
    detail = "The login id or password is incorrect."


class InvalidIdTokenError(DomainError):
    status = 401
    code = "INVALID_ID_TOKEN"
    detail = "The ID token is invalid."


class IdentityProviderNotConfiguredError(DomainError):
    status = 503
    code = "IDP_NOT_CONFIGURED"
    detail = "Login by identity provider is not configured."


class MemberSuspendedError(DomainError):
    status = 403
    code = "MEMBER_SUSPENDED"
    detail = "This account is suspended."


class LinkingRefusedError(DomainError):
    status = 403
    code = "LINKING_REFUSED"
    detail = (
        "The account with this email address cannot be linked by it. Log in with login "
        "id and password."
    )


class SignupDisabledError(DomainError):
    status = 403
    code = "SIGNUP_DISABLED"
    detail = "Sign-up is currently closed."


class SignupRefusedError(DomainError):
    code = "SIGNUP_REFUSED"
    detail = "The sign-up was refused."


class PasswordMismatchError(DomainError):
    code = "PASSWORD_MISMATCH"
    detail = "The password is incorrect."


class PasswordUnchangedError(DomainError):
    code = "PASSWORD_UNCHANGED"
    detail = "The new password must differ from the current one."


class PasswordNotSupportedError(DomainError):
    code = "PASSWORD_NOT_SUPPORTED"
    detail = "This account logs in by identity provider and has no password."


class AdministratorProfileError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = "The profile of another administrator cannot be changed."


class SelfChangeError(DomainError):
    code = "SELF_CHANGE"
    detail = "Administrators cannot change or delete their own account here."
