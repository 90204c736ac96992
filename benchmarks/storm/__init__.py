"""A storm: random writes of many members while processes and stores are killed."""
