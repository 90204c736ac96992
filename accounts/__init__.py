"""Members: sign-up, login, sessions, profile, points and leaving."""
