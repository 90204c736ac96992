"""Members: sign-up, login, sessions, profile, points and account deletion."""
