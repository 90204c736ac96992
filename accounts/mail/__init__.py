"""Mails to members: texts, the outbox, and the job that sends them (spec 2.10)."""
