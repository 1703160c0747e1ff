"""How much memory a pool has for what is live."""
