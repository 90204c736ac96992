"""Serializers of the description of the installation."""

from rest_framework import serializers

from core.api.serializers import Serializer


class MetaFeaturesSerializer(Serializer):
    """What is set up; further features may be added."""

    signup = serializers.BooleanField(help_text="New members may sign up now.")
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
    mail = serializers.BooleanField()
    push = serializers.BooleanField()
    passkeys = serializers.BooleanField()
    second_factor = serializers.BooleanField()
    tokens = serializers.BooleanField()
    webhooks = serializers.BooleanField()
    bank_texts = serializers.BooleanField()


class LedgerLimitsSerializer(Serializer):
    """Limits of one ledger: lengths in characters, lists in rows."""

    amount = serializers.IntegerField()
    name_length = serializers.IntegerField()
    memo_length = serializers.IntegerField()
    tags_per_entry = serializers.IntegerField()
    notification_length = serializers.IntegerField()
    statistics_days = serializers.IntegerField(help_text="Of a range.")
    backup_rows = serializers.IntegerField(help_text="Of one sheet.")
    wallets = serializers.IntegerField()
    categories = serializers.IntegerField()
    tags = serializers.IntegerField()
    quick_entries = serializers.IntegerField()
    recurring = serializers.IntegerField()
    stocks = serializers.IntegerField()


class BoardLimitsSerializer(Serializer):
    """Limits of one member on the board: lengths in characters."""

    title_length = serializers.IntegerField()
    content_length = serializers.IntegerField()
    comment_length = serializers.IntegerField()
    tag_length = serializers.IntegerField()
    tags_per_post = serializers.IntegerField()
    images = serializers.IntegerField()
    image_bytes = serializers.IntegerField(help_text="Of all images.")
    images_per_hour = serializers.IntegerField()
    posts_per_hour = serializers.IntegerField()
    comments_per_hour = serializers.IntegerField()
    votes_per_hour = serializers.IntegerField()


class MetaLimitsSerializer(Serializer):
    """The limits that clients meet."""

    page_size = serializers.IntegerField()
    url_bytes = serializers.IntegerField(help_text="Of path and query.")
    body_bytes = serializers.IntegerField(help_text="Of a JSON body.")
    upload_bytes = serializers.IntegerField(help_text="Of an uploaded file.")
    profile_image_bytes = serializers.IntegerField(help_text="Decoded.")
    password_length = serializers.IntegerField()
    sessions = serializers.IntegerField(help_text="Of a member; then the oldest ends.")
    session_days = serializers.IntegerField(help_text="After the last use.")
    ledger = LedgerLimitsSerializer()
    board = BoardLimitsSerializer()


class ClientVersionsSerializer(Serializer):
    """The versions of a client application."""

    minimum = serializers.CharField(
        allow_null=True, help_text="Older ones must be updated before they go on."
    )
    newest = serializers.CharField(allow_null=True)
    url = serializers.CharField(allow_null=True, help_text="Where to get it.")


class LegalPagesSerializer(Serializer):
    """Addresses of pages for people."""

    terms = serializers.CharField(allow_null=True)
    privacy = serializers.CharField(allow_null=True)


class SupportSerializer(Serializer):
    """How members reach the operator."""

    email = serializers.CharField(allow_null=True)
    url = serializers.CharField(allow_null=True)


class MetaSerializer(Serializer):
    """The installation: its version, what is set up, and its limits."""

    name = serializers.CharField(allow_null=True, help_text="Of the installation.")
    version = serializers.CharField(help_text="Of the service.")
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="Of texts in errors."
    )
    home_currency = serializers.CharField()
    time_zone = serializers.CharField()
    features = MetaFeaturesSerializer()
    limits = MetaLimitsSerializer()
    clients = serializers.DictField(
        child=ClientVersionsSerializer(),
        allow_null=True,
        help_text="By the name of the client, such as `ios`.",
    )
    legal = LegalPagesSerializer(allow_null=True)
    support = SupportSerializer(allow_null=True)
