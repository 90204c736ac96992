"""Settings of drf-spectacular."""

from typing import Any

from config.about import LICENSE, VERSION

TAGS = (
    ("Sessions", "Sign-up, login, logout and the current session."),
    ("Profile", "The caller's own account."),
    ("Second factor", "Codes of an authenticator app at each login."),
    ("Wallets", "Accounts, cards and cash, and their balances."),
    ("Cards", "Bills of cards, before and after they are paid, and installments."),
    ("Entries", "Income and expenses, and the confirmation of pending ones."),
    ("Card notifications", "Entries from the texts of card companies and banks."),
    ("Changes", "What has changed, for clients that keep a copy."),
    ("Categories", "Major and minor categories of entries."),
    ("Tags", "Tags of entries."),
    ("Quick entries", "Templates of entries."),
    ("Recurring rules", "Entries that are booked on their due dates."),
    ("Budgets", "Budgets by category and month."),
    ("Imports", "Files of other apps, banks and cards, read and then committed."),
    ("Operations", "What was deleted or changed at once, and its undo."),
    ("Statistics", "Sums of confirmed entries."),
    ("Net worth", "What the member owns and owes."),
    ("Investments", "Stocks, trades and the portfolio."),
    ("Exchange rates", "Rates between currencies."),
    ("Receipts", "The text of a photographed receipt."),
    ("Backup", "The whole ledger as a file, and back."),
    ("Export", "The ledger in open formats, with every plan."),
    ("Board", "Posts, comments, votes and images."),
    ("Documents", "Terms and other documents, and who has agreed to them."),
    ("Reports", "What is wrong with a post, a comment or a member."),
    ("Inbox", "What the caller is told, and what they say against a decision."),
    ("Moderation", "The queue of reports, and what moderators decide."),
    ("Blocks", "Members whose content the caller does not want to see."),
    ("Billing", "Products, purchases and the subscription."),
    ("Members", "The administration of members."),
    ("Users", "Members as rows, for administrators."),
    ("Default categories", "The categories that members import."),
    ("Sign-up setting", "Whether sign-up is open."),
    ("Switches", "What is switched off for now."),
    ("Announcements", "What the operator tells the members."),
    ("Log", "What administrators have changed and read."),
    ("Installation", "What this installation offers."),
    ("Service", "Whether the service works."),
)

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Household Ledger and Community Board",
    "DESCRIPTION": (
        "A household ledger, a community board and a paid membership over JSON. "
        "Log in, then send the token as `Authorization: Bearer <token>`. "
        "Every error is an `application/problem+json` body with a `code`. "
        "Null of an optional field leaves it out of a POST and clears it in a PUT or "
        "PATCH, unless the field has null as a value."
    ),
    "VERSION": VERSION,
    "LICENSE": {"name": LICENSE, "identifier": LICENSE},
    "TAGS": [{"name": name, "description": description} for name, description in TAGS],
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Pairs that cannot grow (`ClosedChoiceField`), and words of requests alone. Others
    # are texts with `x-known-values`.
    "ENUM_NAME_OVERRIDES": {
        "BatchOperation": "ledger.bulk.batch.Op",
        "CategoryLanguage": "ledger.categories.serializers.LANGUAGES",
        "CategoryType": "ledger.models.base.CategoryType",
        "DateOrder": "ledger.imports.dates.DATE_ORDERS",
        "ImportRowAction": "ledger.models.ImportAction",
        "TradeSide": "ledger.models.Trade.Side",
        "VoteDirection": "board.serializers.posts.VOTE_VALUES",
        "VoteState": "board.voting.VOTE_VALUE_BY_CHOICE",
    },
    "PREPROCESSING_HOOKS": ["config.url_aliases.exclude_alias_urls"],
    "POSTPROCESSING_HOOKS": [
        "core.api.openapi_hooks.simplify_references",
        "core.api.openapi_hooks.add_server",
        "core.api.openapi_hooks.mark_public_operations",
        "core.api.openapi_hooks.rename_path_parameters",
        "core.api.openapi_hooks.add_links",
        "core.api.openapi_hooks.add_response_headers",
        "config.openapi_examples.add_all_examples",
        "core.api.openapi_hooks.share_problems",
    ],
    "GET_LIB_DOC_EXCLUDES": "core.api.openapi.get_doc_excludes",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # JavaScript, since the plugin is a function of templates/api_docs/try_out.html.
    "SWAGGER_UI_SETTINGS": (
        "{deepLinking: true, persistAuthorization: false, plugins: [callThisServer]}"
    ),
}
