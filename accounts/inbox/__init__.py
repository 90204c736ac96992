"""What members are told within the service (spec 2.19)."""
