"""`PersistenceSchema`: the named things that a Flow keeps beside its Steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.stream import Stream


@dataclass(frozen=True)
class PersistenceSchema:
    """What a Flow registers; names are unique within it."""

    streams: tuple[Stream[Any], ...] = ()

    @classmethod
    def of(cls, *definitions: Any) -> PersistenceSchema:
        """Sort definitions by their kind.

        Raises:
            DefinitionError: Something is no definition.
        """
        for definition in definitions:
            if not isinstance(definition, Stream):
                message = f"PersistenceSchema.of got {definition!r}: give Stream definitions"
                raise DefinitionError(message)
        return cls(streams=definitions)
