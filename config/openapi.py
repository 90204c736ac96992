"""Settings of drf-spectacular, which makes the OpenAPI document and its page."""

from typing import Any

from config.about import VERSION

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Household Ledger and Community Board",
    "DESCRIPTION": (
        "A household ledger, a community board and a paid membership over JSON. "
        "Log in, then send the token as `Authorization: Bearer <token>`. "
        "Every error is an `application/problem+json` body with a `code`."
    ),
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "MemberStatus": "accounts.models.Member.Status",
        "HealthStatus": "core.health.HEALTH_STATES",
        "NotificationKind": "card_alerts.result.Kind",
        "NotificationReason": "card_alerts.result.Reason",
        "WalletKind": "ledger.models.Wallet.Kind",
        "StoreState": "core.health.DEPENDENCY_STATES",
    },
    "PREPROCESSING_HOOKS": ["config.url_aliases.exclude_alias_urls"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "core.api.openapi.mark_conditional_fields_optional",
        "core.api.openapi.rename_path_parameters",
        "config.openapi_examples.add_all_examples",
    ],
    "GET_LIB_DOC_EXCLUDES": "core.api.openapi.get_doc_excludes",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False},
}
