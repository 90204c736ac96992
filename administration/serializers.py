"""Wire shapes of the administrators' area."""

from config.api.serializers import Flag, Serializer


class SignupSwitchBody(Serializer):
    enabled = Flag()
