"""Parse Japanese mails and pushes of card companies, banks and pay services."""
