"""`AttributeMatch`: what a client waits for an Attribute to be."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.kept_value import KeptValue
from dexnb.flow.shape import name_of, unwrap
from dexnb.flow.typed import check
from dexnb.model.shown import shown

_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "equal_to": operator.eq,
    "not_equal_to": operator.ne,
    "greater_than": operator.gt,
    "greater_than_or_equal": operator.ge,
    "less_than": operator.lt,
    "less_than_or_equal": operator.le,
}
_NUMBERS = (int, float, Decimal)
_ORDERED = (*_NUMBERS, date, time, timedelta)
_EQUALITY = ("equal_to", "not_equal_to")


@dataclass(frozen=True)
class AttributeMatch:
    """A test of an Attribute's value; make it with `equal_to` and its siblings.

    Args:
        test: Name of the maker.
        operand: What the value is compared with.

    Raises:
        DefinitionError: There is no such test, or the operand has no order.
    """

    test: str
    operand: Any

    def __post_init__(self) -> None:
        """Refuse what could never match."""
        if self.test not in _TESTS:
            raise DefinitionError(
                f"AttributeMatch test is {shown(self.test)}: give one of {', '.join(_TESTS)}"
            )
        if self.test not in _EQUALITY and not _has_order(self.operand):
            raise DefinitionError(
                f"AttributeMatch.{self.test} operand is {shown(self.operand)}: a "
                f"{name_of(type(self.operand))} is only compared by equal_to and not_equal_to"
            )

    @classmethod
    def equal_to(cls, operand: Any) -> AttributeMatch:
        """Match the value `operand`."""
        return cls("equal_to", operand)

    @classmethod
    def not_equal_to(cls, operand: Any) -> AttributeMatch:
        """Match every other value, no value too."""
        return cls("not_equal_to", operand)

    @classmethod
    def greater_than(cls, operand: Any) -> AttributeMatch:
        """Match what is above `operand`, a number or a time."""
        return cls("greater_than", operand)

    @classmethod
    def greater_than_or_equal(cls, operand: Any) -> AttributeMatch:
        """Match `operand` and what is above it."""
        return cls("greater_than_or_equal", operand)

    @classmethod
    def less_than(cls, operand: Any) -> AttributeMatch:
        """Match what is below `operand`, a number or a time."""
        return cls("less_than", operand)

    @classmethod
    def less_than_or_equal(cls, operand: Any) -> AttributeMatch:
        """Match `operand` and what is below it."""
        return cls("less_than_or_equal", operand)

    def matches(self, value: Any) -> bool:
        """Tell whether a value is what is waited for; no value (None) is above and below nothing.

        Raises:
            DefinitionError: The value and the operand cannot be compared.
        """
        if self.test in _EQUALITY:
            return _equal(value, self.operand) == (self.test == "equal_to")
        if value is None:
            return False
        try:
            return bool(_TESTS[self.test](value, self.operand))
        except TypeError as error:
            raise DefinitionError(
                f"AttributeMatch.{self.test} operand is {shown(self.operand)} and cannot be "
                f"compared with {shown(value)}: {error}"
            ) from error

    def check_fits(self, attribute: KeptValue[Any]) -> None:
        """Refuse to wait for what no value of this Attribute could ever be.

        Raises:
            ValueMappingError: The operand is of another type than the values.
        """
        if self.operand is None:
            return
        if _is_number(self.operand) and unwrap(attribute.value_type) in _NUMBERS:
            return
        operation = f"AttributeMatch.{self.test} operand for {attribute.kind} {attribute.name}"
        check(self.operand, attribute.value_type, operation)


def no_match(given: Any) -> DefinitionError:
    """Give the error for a value that stands where a client's match must."""
    form = "(flow_id, attribute, match) or (flow_id, attribute_map, instance, match)"
    fix = f"give AttributeMatch.equal_to({shown(given)}), as {form}"
    return DefinitionError(f"wait_for_attribute_match match is {shown(given)}: {fix}")


def _equal(value: Any, operand: Any) -> bool:
    # True is 1 for Python, and another value for whoever waits.
    return isinstance(value, bool) == isinstance(operand, bool) and bool(value == operand)


def _is_number(operand: Any) -> bool:
    return isinstance(operand, _NUMBERS) and not isinstance(operand, bool)


def _has_order(operand: Any) -> bool:
    return isinstance(operand, _ORDERED) and not isinstance(operand, bool)
