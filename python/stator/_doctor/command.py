"""`python -m stator doctor`. Its exit status is 1 where there is an error, or with --strict a warning; else 0."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console

from stator._doctor import page
from stator._doctor.environment import Environment
from stator._doctor.examination import PROBES, examine, facts
from stator._doctor.finding import Finding, Severity

TEXT = "find and explain what is wrong with this environment"
_UNCUT = 10_000  # columns of output that goes to no terminal


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments besides --json."""
    command.add_argument("--strict", action="store_true", help="end with status 1 where there are warnings, too")


def status(findings: Sequence[Finding], strict: bool) -> int:
    """The exit status."""
    fatal = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return int(any(finding.severity in fatal for finding in findings))


def run(args: argparse.Namespace, console: Console, env: Environment | None = None) -> int:
    """The command."""
    env = env or Environment()
    findings = examine(env)
    result = status(findings, args.strict)
    if args.json:
        found = {"result": "failed" if result else "passed", "findings": [f.as_dict() for f in findings]}
        print(json.dumps(found | {"facts": facts(env)}))
    else:
        page.show(console, findings, len(PROBES))
    return result


def main(arguments: Sequence[str]) -> int:
    """The command without the others, for where stator cannot be imported: stator/__init__.py calls it."""
    parser = argparse.ArgumentParser("python -m stator doctor", description=TEXT)
    parser.add_argument("--json", action="store_true", help="one JSON value on stdout")
    add_arguments(parser)
    console = Console()
    return run(parser.parse_args(arguments), console if console.is_terminal else Console(width=_UNCUT))
