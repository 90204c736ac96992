"""Serializers of the description of the installation."""

from rest_framework import serializers

from core.api.serializers import Serializer


class MetaFeaturesSerializer(Serializer):
    """The features that are set up; others may be added."""

    signup = serializers.BooleanField(help_text="New members may sign up now.")
    posting = serializers.BooleanField(
        help_text="Posts and comments may be written and changed now."
    )
    images = serializers.BooleanField(help_text="Images may be uploaded now.")
    read_only = serializers.BooleanField(
        help_text="Nothing can be changed now: the service is being maintained."
    )  # type: ignore[assignment]
    providers = serializers.ListField(
        child=serializers.CharField(),
        help_text="Identity providers by which members log in: `google`.",
    )
    stores = serializers.ListField(
        child=serializers.CharField(),
        help_text="Stores whose purchases are accepted: `google_play`.",
    )
    test_billing = serializers.BooleanField(help_text="Test purchases are accepted.")
    ocr = serializers.BooleanField(help_text="Receipts are recognized.")
    mail = serializers.BooleanField(help_text="Mails are sent.")
    push = serializers.BooleanField(help_text="Notifications are pushed.")
    passkeys = serializers.BooleanField(help_text="Members log in by passkey.")
    second_factor = serializers.BooleanField(
        help_text="Members can set a second factor."
    )
    tokens = serializers.BooleanField(help_text="Members make tokens for scripts.")
    webhooks = serializers.BooleanField(help_text="Members receive events by webhook.")
    bank_texts = serializers.BooleanField(
        help_text="Transfers in texts of banks become entries."
    )
    sync = serializers.BooleanField(
        help_text="Clients can keep a copy of a ledger and write offline."
    )
    imports = serializers.BooleanField(
        help_text="Files of other apps, banks and cards can be imported."
    )
    card_bills = serializers.BooleanField(
        help_text="Bills of cards are computed, with installments and targets."
    )


class LedgerLimitsSerializer(Serializer):
    """Limits of a member's books: lengths in characters, lists in rows."""

    amount = serializers.IntegerField(
        help_text="The largest amount, in whole home-currency units."
    )
    name_length = serializers.IntegerField(help_text="Characters of a name.")
    memo_length = serializers.IntegerField(help_text="Characters of a memo.")
    tags_per_entry = serializers.IntegerField(help_text="Tags of one entry.")
    notification_length = serializers.IntegerField(
        help_text="Characters of the text of a notification."
    )
    statistics_days = serializers.IntegerField(help_text="Of a range.")
    backup_rows = serializers.IntegerField(help_text="Of one sheet.")
    entries = serializers.IntegerField(help_text="Entries of a member.")
    wallets = serializers.IntegerField(help_text="Rows of the list.")
    categories = serializers.IntegerField(help_text="Rows of the list.")
    tags = serializers.IntegerField(help_text="Rows of the list.")
    quick_entries = serializers.IntegerField(help_text="Rows of the list.")
    recurring = serializers.IntegerField(help_text="Rows of the list.")
    stocks = serializers.IntegerField(help_text="Rows of the list.")


class BoardLimitsSerializer(Serializer):
    """Limits of one member on the board: lengths in characters."""

    title_length = serializers.IntegerField(help_text="Characters of a title.")
    content_length = serializers.IntegerField(
        help_text="Characters of a post, with its HTML."
    )
    comment_length = serializers.IntegerField(help_text="Characters of a comment.")
    tag_length = serializers.IntegerField(help_text="Characters of a tag.")
    tags_per_post = serializers.IntegerField(help_text="Tags of one post.")
    images = serializers.IntegerField(help_text="Images that a member may keep.")
    image_bytes = serializers.IntegerField(help_text="Of all images.")
    images_per_hour = serializers.IntegerField(help_text="Uploads within an hour.")
    posts_per_hour = serializers.IntegerField(help_text="Posts within an hour.")
    comments_per_hour = serializers.IntegerField(help_text="Comments within an hour.")
    votes_per_hour = serializers.IntegerField(help_text="Votes within an hour.")


class MetaLimitsSerializer(Serializer):
    """The limits that clients meet."""

    page_size = serializers.IntegerField(help_text="Rows on a page.")
    page_offset = serializers.IntegerField(
        help_text="Entries before a page by number; deeper ones are read by `after`."
    )
    url_bytes = serializers.IntegerField(help_text="Of path and query.")
    body_bytes = serializers.IntegerField(
        help_text="Of a JSON body, where the operation has no `x-max-body-bytes`."
    )
    upload_bytes = serializers.IntegerField(help_text="Of an uploaded file.")
    profile_image_bytes = serializers.IntegerField(help_text="Decoded.")
    password_length = serializers.IntegerField(help_text="Characters of a password.")
    sessions = serializers.IntegerField(help_text="Of a member; then the oldest ends.")
    session_days = serializers.IntegerField(help_text="After the last use.")
    ledger = LedgerLimitsSerializer(help_text="Of a member's books.")
    board = BoardLimitsSerializer(help_text="Of one member on the board.")


class ClientVersionsSerializer(Serializer):
    """The versions of a client application."""

    minimum = serializers.CharField(
        allow_null=True, help_text="Older ones must be updated before they go on."
    )
    newest = serializers.CharField(allow_null=True, help_text="The newest version.")
    url = serializers.URLField(allow_null=True, help_text="Where to get it.")


class LegalPagesSerializer(Serializer):
    """Addresses of pages for people."""

    terms = serializers.URLField(allow_null=True, help_text="URL of the terms of use.")
    privacy = serializers.URLField(
        allow_null=True, help_text="URL of the privacy policy."
    )
    account_deletion = serializers.URLField(
        help_text="URL of the page that deletes an account, without the application."
    )
    reports = serializers.URLField(
        help_text="URL of the page on which anybody reports content."
    )


class SupportSerializer(Serializer):
    """The ways in which members reach the operator."""

    email = serializers.EmailField(allow_null=True, help_text="Address for questions.")
    url = serializers.URLField(allow_null=True, help_text="URL of a page for help.")


class MetaSerializer(Serializer):
    """The installation: its version, what is set up, and its limits."""

    name = serializers.CharField(allow_null=True, help_text="Of the installation.")
    version = serializers.CharField(help_text="Of the service.")
    source = serializers.URLField(
        allow_null=True,
        help_text="URL of the source of this very version; null if none is named.",
    )  # type: ignore[assignment]
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="Of texts in errors."
    )
    home_currency = serializers.CharField(help_text="The currency of all amounts.")
    time_zone = serializers.CharField(
        help_text="The time zone that decides days, months and weeks."
    )
    features = MetaFeaturesSerializer(help_text="What is set up.")
    limits = MetaLimitsSerializer(help_text="The limits that clients meet.")
    clients = serializers.DictField(
        child=ClientVersionsSerializer(),
        allow_null=True,
        help_text="By the name of the client, such as `ios`.",
    )
    legal = LegalPagesSerializer(allow_null=True, help_text="Pages to be linked.")
    support = SupportSerializer(
        allow_null=True, help_text="How members reach the operator."
    )
