"""Copies of bytes between arrays and the host, which methods of Array and Backend make."""
