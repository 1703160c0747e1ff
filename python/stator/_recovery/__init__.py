"""What to do about errors: suggestions, conversion of those of other libraries, their level in a log."""
