"""What a project tells the linter: `[tool.dexnb.lint]` of its pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from dexnb.errors import DefinitionError
from dexnb.lint.limits import LONGEST
from dexnb.lint.registry import known_names
from dexnb.lint.settings import LintSettings, Target

FailOn = Literal["error", "warning", "note", "never"]

FILE = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class LintConfig:
    """How a project is linted.

    Args:
        settings: What the rules are told.
        exclude: Patterns of paths and names that are left out of folders.
        fail_on: Least severity that counts as a failure.
        strict: Whether what cannot be told counts as found.
    """

    settings: LintSettings = field(default_factory=LintSettings)
    exclude: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    strict: bool = False


def config_near(place: Path) -> LintConfig:
    """Give what the nearest pyproject.toml says, from a place upward; defaults without one.

    Raises:
        DefinitionError: It cannot be read, or says what no setting is; names the file and the key.
    """
    start = place.absolute()
    for folder in (start, *start.parents):
        file = folder / FILE
        if file.is_file():
            return _read(file)
    return LintConfig()


def changed(config: LintConfig, table: Mapping[str, Any], source: str) -> LintConfig:
    """Give a config with what a table says, by the names of the command's options.

    Args:
        config: What holds where the table says nothing.
        table: Values by name: `select`, `ignore`, `exclude`, `fail-on`, `strict`, `margin`,
            `minimum-heartbeat`, `target`.
        source: What the table is called in an error.

    Raises:
        DefinitionError: A name or a value is none of these.
    """
    for key, value in table.items():
        change = _KEYS.get(key)
        if change is None:
            known = ", ".join(_KEYS)
            raise DefinitionError(f"{source} {key!r} is no setting of the linter: give {known}")
        config = change(config, value, f"{source} {key}")
    return config


def _read(file: Path) -> LintConfig:
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DefinitionError(f"{file} cannot be read: {error}") from error
    tool = document.get("tool")
    own = tool.get("dexnb") if isinstance(tool, dict) else None
    table = own.get("lint") if isinstance(own, dict) else None
    if table is None:
        return LintConfig()
    if not isinstance(table, dict):
        raise DefinitionError(f"{file} [tool.dexnb.lint] is {table!r}: make it a table")
    return changed(LintConfig(), table, f"{file} [tool.dexnb.lint]")


def _rules(value: Any, source: str) -> frozenset[str]:
    names = frozenset(_texts(value, source))
    if unknown := sorted(names - known_names()):
        raise DefinitionError(f"{source} has {unknown[0]!r}, which is no rule: see --rules")
    return names


def _texts(value: Any, source: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise DefinitionError(f"{source} is {value!r}: give a list of texts")


def _number(value: Any, source: str) -> float:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if plain and 0 <= value <= LONGEST:
        return float(value)
    raise DefinitionError(f"{source} is {value!r}: give seconds from 0 to {LONGEST}")


def _one_of(value: Any, known: tuple[str, ...], source: str) -> Any:
    if value in known:
        return value
    raise DefinitionError(f"{source} is {value!r}: give one of {', '.join(known)}")


def _told(config: LintConfig, **values: Any) -> LintConfig:
    return replace(config, settings=replace(config.settings, **values))


def _strict(config: LintConfig, value: Any, source: str) -> LintConfig:
    if not isinstance(value, bool):
        raise DefinitionError(f"{source} is {value!r}: give true or false")
    return replace(config, strict=value)


_KEYS: dict[str, Callable[[LintConfig, Any, str], LintConfig]] = {
    "select": lambda config, value, at: _told(config, selected=_rules(value, at)),
    "ignore": lambda config, value, at: _told(
        config, ignored=config.settings.ignored | _rules(value, at)
    ),
    "exclude": lambda config, value, at: replace(
        config, exclude=(*config.exclude, *_texts(value, at))
    ),
    "fail-on": lambda config, value, at: replace(
        config, fail_on=_one_of(value, get_args(FailOn), at)
    ),
    "strict": _strict,
    "margin": lambda config, value, at: _told(config, margin=_number(value, at)),
    "minimum-heartbeat": lambda config, value, at: _told(
        config, minimum_heartbeat=_number(value, at)
    ),
    "target": lambda config, value, at: _told(config, target=_one_of(value, get_args(Target), at)),
}
