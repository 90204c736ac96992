"""The inbox: messages to members within the service (spec 2.19)."""
