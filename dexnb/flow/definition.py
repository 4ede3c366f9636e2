"""`Definition`: a name and a type, which Attributes and Channels and their maps have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args, get_origin

from dexnb.errors import DefinitionError
from dexnb.flow.context import Context, checked
from dexnb.flow.name import name_fix
from dexnb.flow.physical import instance_name
from dexnb.flow.shape import is_any, is_union, name_of, unwrap
from dexnb.model.shown import shown

if TYPE_CHECKING:
    from dexnb.flow.data import FlowData

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, repr=False)
class Definition(Generic[ValueT]):
    """A named, typed thing that a Flow keeps.

    A definition is known by its name and its kind: one that a cell makes again is the same thing.

    Args:
        name: Unique among the Attributes, Channels and Streams of a Flow; without `/`.
        value_type: What is kept under it.

    Raises:
        DefinitionError: The name cannot be used, or the type is none.
    """

    name: str
    value_type: type[ValueT]

    kind: ClassVar[str] = "Definition"
    """What it is, in the text of errors."""

    def __post_init__(self) -> None:
        """Check what can be checked without the Flow."""
        fix = name_fix(self.name, reserved="/")
        if fix is not None:
            raise DefinitionError(f"{self.kind} name is {shown(self.name)}: {fix}")
        if not _is_type(self.value_type):
            raise DefinitionError(
                f"{self.kind} {self.name} value_type is {shown(self.value_type)}: "
                "give a type such as str, JobStatus or list[int]"
            )

    def data_of(self, context: Context, method: str) -> FlowData:
        """Give what a method of this definition works through.

        Raises:
            DefinitionError: It was given no context.
        """
        return checked(context, f"{self.kind} {self.name} {method}").data

    def __repr__(self) -> str:
        """Show the definition."""
        return f"{self.kind}({self.name!r}, {name_of(self.value_type)})"


class MapDefinition(Definition[ValueT]):
    """A definition that holds any number of instances, each with a name of its own."""

    kind: ClassVar[str] = "MapDefinition"

    def physical_name(self, instance: str) -> str:
        """Give the name that the store knows an instance by.

        Raises:
            DefinitionError: The instance is no printable, non-empty str of at most 255 letters.
        """
        return instance_name(self.kind, self.name, instance)


def are_alike(type_: Any, other: Any) -> bool:
    """Tell types that a value is kept the same for.

    A class that a cell defined again is another one of the same name.
    """
    if type_ is other:
        return True
    type_, other = unwrap(type_), unwrap(other)
    if type_ == other:
        return True
    origin, other_origin = get_origin(type_), get_origin(other)
    if origin is None and other_origin is None:
        return name_of(type_) == name_of(other)
    arguments, others = get_args(type_), get_args(other)
    if len(arguments) != len(others) or not _same_origin(type_, other):
        return False
    return all(are_alike(*pair) for pair in zip(arguments, others, strict=True))


def _same_origin(type_: Any, other: Any) -> bool:
    if is_union(type_) or is_union(other):
        return is_union(type_) and is_union(other)
    return name_of(get_origin(type_)) == name_of(get_origin(other))


def _is_type(value_type: Any) -> bool:
    known = isinstance(unwrap(value_type), type) or is_any(value_type)
    return known or get_origin(value_type) is not None
