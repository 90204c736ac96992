"""Serializers of members and sessions."""
