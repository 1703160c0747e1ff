"""Every symbol of a vendor library that libs/cuda looks up has a double, and there is no double without a use."""

import re
from pathlib import Path

CSRC = Path(__file__).parents[2] / "csrc"
LETTERS = {"orgqr": "SD", "ungqr": "CZ"}
PREFIXES = {"blas": "cublas", "dense": "cusolverDn"}


def letters(name: str) -> set[str]:
    """The names of a function of each type; a question mark stands for its letter."""
    return (
        {name.replace("?", letter) for letter in LETTERS.get(name.split("?")[1][:5], "SDCZ")} if "?" in name else {name}
    )


def looked_up() -> set[str]:
    found: set[str] = set()
    for path in sorted((CSRC / "libs/cuda").glob("*.cpp")):
        text = path.read_text()
        found |= set(re.findall(r'find(?:\.optional)?\([^;]*?"(cu\w+)"\)', text))
        for prefix, rest in re.findall(r'\b(blas|dense) \+ "(\w+)"', text):
            found |= letters(f"{PREFIXES[prefix]}?{rest}")
        if 'dense + (is_complex<T> ? "ungqr" : "orgqr")' in text:
            for q in LETTERS:
                found |= letters(f"cusolverDn?{q}") | letters(f"cusolverDn?{q}_bufferSize")
    found |= set(re.findall(r'version_symbol = "(cu\w+)"', (CSRC / "libs/loader.cpp").read_text()))
    return found


def doubled() -> set[str]:
    found: set[str] = set()
    for path in sorted((CSRC / "emulator/vendor").glob("*/*.cpp")):
        text = path.read_text()
        for name in re.findall(r"STATOR_VENDOR\([\w ]+[\s\\*]*,[\s\\]*(cu[\w#]+),", text):
            if "##phase" in name:
                found |= {name.replace("##phase", p) for p in re.findall(r"^SPARSE_VECTOR\((\w+)", text, re.MULTILINE)}
            elif "##q" in name:
                for letter, q in re.findall(r"^TYPED\((\w), (\w+),", text, re.MULTILINE):
                    found.add(name.replace("##letter", letter).replace("##q", q).replace("##", ""))
            else:
                found |= letters(name.replace("##letter##", "?"))
    return found


def test_every_symbol_in_use_has_a_double() -> None:
    assert len(looked_up()) > 100
    assert looked_up() == doubled()
