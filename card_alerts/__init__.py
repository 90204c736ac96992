"""Parse the texts that banks and card companies send after a payment."""
