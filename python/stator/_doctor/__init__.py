"""`python -m stator doctor`: what is wrong with this environment, why it matters, and what to do.

Loaded only by that command. It must work where the compiled modules of stator cannot be imported, so nothing here
imports them: a child process does (package_child.py), and another one asks the driver (driver_child.py).
"""
