"""The probes, in a module per subject: each looks at an Environment and yields what it finds."""
