"""The files in which Linux says what the machine and the process have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class SystemFiles:
    """Files by their absolute names. A test gives another folder as `root`, in which it describes a machine."""

    root: Path = Path("/")

    def at(self, name: str) -> Path:
        """The path of a file of the system."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """What a file of the system says; None where there is none."""
        try:
            return self.at(name).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, name: str) -> int | None:
        """The number that a file of the system begins with; None where there is none ("max")."""
        words = (self.text(name) or "").split()
        return int(words[0]) if words and words[0].lstrip("-").isdigit() else None
