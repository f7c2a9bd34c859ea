"""The command: `python -m physics predict | simulate | models | chips`."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from physics.catalogue import models
from physics.chips import chips
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_token
from physics.options import DEFAULT_CHIP, DEFAULT_MODEL, OPTIONS, Choice
from physics.predict import parse_question, predict
from physics.serving import command as simulation
from physics.table import predict_table

COMMANDS = ("predict", "simulate", "models", "chips")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what is allowed."""

    def error(self, message: str) -> NoReturn:
        missing = re.fullmatch(r"argument --([\w-]+): expected one argument", message)
        if missing:
            message += f"; it must be {_allowed(missing[1])}"
        if "arguments are required: command" in message:
            message += f"; one of: {', '.join(COMMANDS)}"
        self.exit(2, f"{self.prog}: {_one_line(message)}\n")


def _allowed(name: str) -> str:
    """Say what an option may be."""
    option = OPTIONS.get(name) or simulation.SIMULATION_OPTIONS.get(name)
    if isinstance(option, Choice):
        return "one of " + ", ".join(option.values)
    if option is not None:
        return option.allowed()
    return {
        "model": f"a slug (see the command models) such as {DEFAULT_MODEL}, or a config.json",
        "chip": f"a slug (see the command chips) such as {DEFAULT_CHIP}",
        "table": "a CSV file",
        **simulation.OTHER_OPTIONS,
    }[name]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m physics", description="Prefill and decode, predicted.", allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    command = commands.add_parser(
        "predict", help="print one prediction as JSON", allow_abbrev=False
    )
    command.add_argument("--model", help=f"slug or path to a config.json; {DEFAULT_MODEL}")
    command.add_argument("--chip", help=f"slug; {DEFAULT_CHIP}")
    for option in OPTIONS.values():
        allowed = ", ".join(option.values) if isinstance(option, Choice) else option.allowed()
        default = "the chip's own" if option.default is None else option.default
        command.add_argument(f"--{option.name}", help=f"{allowed}; default {default}")
    command.add_argument(
        "--table",
        metavar="ROWS.CSV",
        help="predict every row of a CSV file, "
        "whose columns are named like the options; prints CSV",
    )
    simulation.add_arguments(
        commands.add_parser("simulate", help="simulate a server under load", allow_abbrev=False)
    )
    commands.add_parser("models", help="list the models")
    commands.add_parser("chips", help="list the chips")
    return parser


def _models() -> list[dict[str, Any]]:
    return [
        {
            "slug": item.slug,
            "name": item.name,
            "parameters": item.parameters,
            "active_parameters": item.active_parameters,
            "attention": item.attention_kind,
            "kv_bytes_per_token": kv_bytes_per_token(item),
            "source": item.source,
        }
        for item in models().values()
    ]


def _chips() -> list[dict[str, Any]]:
    return [
        {
            "slug": item.slug,
            "name": item.name,
            "bf16_flop_per_second": item.bf16_flop_per_second,
            "bandwidth_bytes_per_second": item.bandwidth,
            "capacity_bytes": item.capacity,
            "link_bytes_per_second": item.link,
            "ridge_flop_per_byte": item.ridge,
            "confidence": item.confidence,
            "source": item.source,
        }
        for item in chips().values()
    ]


def _joined(arguments: Sequence[str] | None) -> list[str]:
    """Join an option and a negative number, which argparse takes for another option."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    joined: list[str] = []
    for word in given:
        if (
            joined
            and joined[-1].startswith("--")
            and "=" not in joined[-1]
            and word[:1] == "-"
            and word[1:2].isdigit()
        ):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code (2: wrong arguments)."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # cells of a table may hold any letter
            stream.reconfigure(errors="backslashreplace")
    parser = _parser()
    known, unknown = parser.parse_known_args(_joined(arguments))
    options = vars(known)
    if unknown:
        allowed = ", ".join(f"--{name}" for name in options if name != "command")
        parser.error(
            f"{known.command} does not know {' '.join(unknown)!r}; allowed: "
            + (allowed or f"no arguments (commands: {', '.join(COMMANDS)})")
        )
    command, table = options.pop("command"), options.pop("table", None)
    try:
        if command == "predict" and table is not None:
            sys.stdout.write(predict_table(table, defaults=options))
            return 0
        if command == "simulate":
            return simulation.run(options)
        answer = (
            {"models": _models, "chips": _chips}[command]()
            if command != "predict"
            else predict(parse_question(options))
        )
    except InputError as error:
        print(f"python -m physics: {_one_line(str(error))}", file=sys.stderr)
        return 2
    print(json.dumps(answer, indent=2, allow_nan=False))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        sys.exit(0)
