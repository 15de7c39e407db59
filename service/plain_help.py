"""What `--help` prints: names as the documents write them, and no sentence cut short."""

from typing import Any

import typer
from typer.core import TyperCommand


class PlainCommand(TyperCommand):
    """A command whose arguments are shown as DIR, not as {DIR} or <path>."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line."""
        return ["[OPTIONS]", *(_shown(param) for param in _arguments(self, ctx))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The lists of arguments and options."""
        arguments = [
            (param.metavar or param.name.upper(), param.help or "")
            for param in _arguments(self, ctx)
        ]
        others = [param for param in self.get_params(ctx) if param.param_type_name != "argument"]
        options = [record for param in others if (record := param.get_help_record(ctx))]
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _arguments(command: TyperCommand, ctx: Any) -> list[Any]:
    return [param for param in command.get_params(ctx) if param.param_type_name == "argument"]


def _shown(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if argument.required or name.startswith("[") else f"[{name}]"


def plain(app: typer.Typer) -> typer.Typer:
    """The same commands, with plain help and whole summaries."""
    for command in app.registered_commands:
        command.cls = PlainCommand
        summary = (command.help or getattr(command.callback, "__doc__", "") or "").strip()
        command.short_help = " ".join(summary.partition("\n\n")[0].split())
    return app
