"""`KeptValue`: what an Attribute and an AttributeMap have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from dexnb.errors import DefinitionError
from dexnb.flow.attribute_index import AttributeIndex
from dexnb.flow.definition import Definition
from dexnb.flow.shape import unwrap
from dexnb.flow.typed import decode_kept
from dexnb.model.shown import shown

ValueT = TypeVar("ValueT")

_MISSING: dict[Any, Any] = {int: 0, bool: False, float: 0.0}


@dataclass(frozen=True, repr=False)
class KeptValue(Definition[ValueT]):
    """What an Attribute and an AttributeMap have in common.

    Args:
        index: Makes the values searchable.
        sync_to_attribute_store: Taken for flow files that give it; this runtime has one store.
        hard_delete_on_null: Taken likewise; a deleted value is always gone.

    Raises:
        DefinitionError: The name or an option cannot be used, or the type is none.
    """

    index: AttributeIndex | None = None
    sync_to_attribute_store: bool = False
    hard_delete_on_null: bool = False

    def __post_init__(self) -> None:
        """Check what can be checked without the Flow."""
        super().__post_init__()
        if self.index is not None and not isinstance(self.index, AttributeIndex):
            raise DefinitionError(
                f"{self.kind} {self.name} index is {shown(self.index)}: "
                "give AttributeIndex(IndexType.KEYWORD)"
            )
        for option in ("sync_to_attribute_store", "hard_delete_on_null"):
            given = getattr(self, option)
            if not isinstance(given, bool):
                raise DefinitionError(
                    f"{self.kind} {self.name} {option} is {shown(given)}: give True or False"
                )

    def decode(self, document: Any, operation: str = "") -> ValueT | None:
        """Read a stored value; None, which is no value, reads as what a missing one gives.

        Raises:
            ValueMappingError: It is of another type.
        """
        if document is None:
            missing: ValueT | None = _MISSING.get(unwrap(self.value_type))
            return missing
        what = operation or f"{self.kind} {self.name} read"
        value: ValueT = decode_kept(document, self.value_type, what)
        return value
