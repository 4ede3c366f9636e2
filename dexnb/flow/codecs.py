"""`CodecRegistry`: codecs of your own, for types that have no stored form or shall have another.

A codec makes a value of its type a plain one, which is what stands in the history, and a value of a
plain one. The runtime has the codecs; `dexnb.open(..., codecs=...)` hands them over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from dexnb.errors import DefinitionError
from dexnb.flow.name import name_fix
from dexnb.flow.wire import WIRE_KINDS, ClassKey, CodecEntry, class_key
from dexnb.model.shown import LONGEST, cut, shown

ValueT = TypeVar("ValueT")
ResultT = TypeVar("ResultT")
MadeT_co = TypeVar("MadeT_co", covariant=True)


class Codec(Protocol[MadeT_co]):
    """What stores the values of one type.

    `encode` gives a plain value of the wire kind for a value of the type, and never None; `decode`
    is given that plain value again, in whatever process it is read, and makes an equal value of it.
    Both may be called from any thread and any number of times. What they raise fails the call that
    stores or reads.
    """

    @property
    def type_name(self) -> str:
        """The type's name, as its class has it, plainly or behind its module and a dot."""

    @property
    def wire_kind(self) -> str | Codec[Any]:
        """What `encode` gives: `string`, `bool`, `int64`, `double`, `bytes` or `object`.

        `STRING`, `BOOL`, `INT64`, `DOUBLE` and `BYTES` stand for theirs, too; an `object` is
        whatever JSON can hold.
        """

    def encode(self, value: Any, /) -> Any:
        """Give the plain value."""

    def decode(self, document: Any, /) -> MadeT_co:
        """Make a value of the plain one."""


@dataclass(frozen=True)
class JsonCodec(Generic[ValueT]):
    """A codec made of two functions, for values that are stored as JSON.

    Args:
        type_name: The type's name.
        decoder: Makes a value of what `encoder` has given.
        encoder: Gives something that JSON can hold: a str, number, bool, list or dict.
        expected_type: The class itself; then the name is but a name.

    Raises:
        DefinitionError: One of the two is no function.
    """

    type_name: str
    decoder: Callable[[Any], ValueT]
    encoder: Callable[[ValueT], Any]
    expected_type: type[ValueT] | None = None

    wire_kind: ClassVar[str] = "object"

    def __post_init__(self) -> None:
        """Refuse what could not be called later."""
        for name in ("decoder", "encoder"):
            given = getattr(self, name)
            if not callable(given):
                fix = "give a function of one value, JsonCodec(type_name, decoder, encoder)"
                raise DefinitionError(f"JsonCodec {name} is {shown(given)}: {fix}")

    def encode(self, value: ValueT, /) -> Any:
        """Give what `encoder` gives."""
        return self.encoder(value)

    def decode(self, document: Any, /) -> ValueT:
        """Give what `decoder` gives."""
        return self.decoder(document)


@dataclass(frozen=True)
class BuiltInCodec(Generic[ValueT]):
    """How a plain type is stored; the constants are all that there are.

    Args:
        type_name: The type's name.
        wire_kind: How its values are stored.
    """

    type_name: str
    wire_kind: str

    def encode(self, value: ValueT, /) -> ValueT:
        """Give the value, which is plain already."""
        return value

    def decode(self, document: Any, /) -> Any:
        """Give the value."""
        return document


STRING: BuiltInCodec[str] = BuiltInCodec("str", "string")
BOOL: BuiltInCodec[bool] = BuiltInCodec("bool", "bool")
INT64: BuiltInCodec[int] = BuiltInCodec("int", "int64")
DOUBLE: BuiltInCodec[float] = BuiltInCodec("float", "double")
BYTES: BuiltInCodec[bytes] = BuiltInCodec("bytes", "bytes")

_BUILT_IN = (STRING, BOOL, INT64, DOUBLE, BYTES)
_TAKEN = {
    *(built_in.type_name for built_in in _BUILT_IN),
    *("NoneType", "None", "object", "Any", "list", "tuple", "dict"),
}
_METHODS = ("type_name", "wire_kind", "encode", "decode")

Given = Iterable[Codec[Any]] | Mapping[Any, Codec[Any]]


class CodecRegistry:
    """Codecs by the type that they are for; it does not change.

    They do not reach into pydantic models: such a field needs what pydantic has for it.

    A codec is for the class that is its `expected_type` or its key, and else for every class of its
    `type_name`; it is also for those subclasses that cannot be stored otherwise. A class that a
    cell defines again is the same one here.

    Args:
        codecs: The codecs, or a dict of them by class; none by default.

    Raises:
        DefinitionError: One is no codec, has no usable name, is for a built-in type, is the second
            one of its type, or its wire kind is none; a key is no class, or another one than the
            codec's `expected_type`.
    """

    def __init__(self, codecs: Given | None = None) -> None:
        """Check and keep them."""
        self._entries: dict[ClassKey, CodecEntry] = {}
        self._known: WeakKeyDictionary[type, CodecEntry | None] = WeakKeyDictionary()
        for class_, codec in _pairs(codecs):
            if not any(codec is each for each in _BUILT_IN):
                self._add(_entry(codec, class_))
        _made.add(self)

    def __len__(self) -> int:
        """Count the codecs."""
        return len(self._entries)

    def __iter__(self) -> Iterator[Codec[Any]]:
        """Go through the codecs."""
        return (entry.codec for entry in self._entries.values())

    def __repr__(self) -> str:
        """Name the types."""
        return f"CodecRegistry({', '.join(entry.name for entry in self._entries.values())})"

    def find(self, class_: type) -> CodecEntry | None:
        """Give what stores the values of exactly this class, or None."""
        try:
            return self._known[class_]
        except KeyError:
            found = self._known[class_] = self._look_up(class_)
            return found

    def find_base(self, class_: type) -> CodecEntry | None:
        """Give what stores the values of a base of this class, or None."""
        return next(filter(None, map(self.find, class_.__mro__[1:-1])), None)

    def joined(self, other: CodecRegistry) -> CodecRegistry:
        """Give the codecs of both; where both have one for a type, that of `other`."""
        made = CodecRegistry()
        names = {entry.name for entry in other._entries.values()}
        mine = {key: entry for key, entry in self._entries.items() if entry.name not in names}
        made._entries = {**mine, **other._entries}
        return made

    @contextmanager
    def used(self) -> Iterator[None]:
        """Store and read by these codecs inside the block."""
        token = CODECS.set(self)
        try:
            yield
        finally:
            CODECS.reset(token)

    def call(self, function: Callable[..., ResultT], *args: Any) -> ResultT:
        """Call what stores or reads by these codecs."""
        with self.used():
            return function(*args)

    def _add(self, entry: CodecEntry) -> None:
        for other in self._entries.values():
            if other.name == entry.name or other.key == entry.key:
                fix = "give one codec for each type"
                raise DefinitionError(f"codec {entry.name} is there twice: {fix}")
        self._entries[entry.key] = entry

    def _look_up(self, class_: type) -> CodecEntry | None:
        module, name = class_key(class_)
        plain = (("", key) for key in (f"{module}.{name}", name, class_.__name__))
        keys = ((module, name), *plain)
        return next((self._entries[key] for key in keys if key in self._entries), None)


_made: WeakSet[CodecRegistry] = WeakSet()

CODECS: ContextVar[CodecRegistry] = ContextVar("dexnb_codecs")
"""The codecs of the runtime for which this context stores and reads; none outside of runtimes."""


def codecs_of(given: Any) -> CodecRegistry:
    """Give the codecs that a caller has given; none for None.

    Raises:
        DefinitionError: They are none.
    """
    if given is None:
        return NO_CODECS
    if isinstance(given, CodecRegistry):
        return given
    fix = "give CodecRegistry([YourCodec(), ...])"
    raise DefinitionError(f"codecs is {shown(given)}: {fix}")


def possible() -> list[CodecRegistry]:
    """Give the codecs by which a type may come to be stored.

    Before it is known where a Flow will run, those are all that were ever made.
    """
    codecs = CODECS.get(None)
    return list(_made) if codecs is None else [codecs]


def _pairs(codecs: Any) -> Iterator[tuple[Any, Any]]:
    if codecs is None:
        return
    if isinstance(codecs, str | bytes) or not isinstance(codecs, Iterable):
        fix = "give a list of codecs, CodecRegistry([YourCodec(), ...])"
        raise DefinitionError(f"CodecRegistry codecs is {shown(codecs)}: {fix}")
    if isinstance(codecs, Mapping):
        for class_, codec in codecs.items():
            if not isinstance(class_, type):
                name = class_ if isinstance(class_, str) and class_.isidentifier() else "YourClass"
                fix = f"give the class itself, {{{cut(name, LONGEST)}: ...}}, or a list of codecs"
                raise DefinitionError(f"CodecRegistry key is {shown(class_)}: {fix}")
            yield class_, codec
    else:
        yield from ((None, codec) for codec in codecs)


def _entry(codec: Any, class_: Any) -> CodecEntry:
    missing = [name for name in _METHODS if not hasattr(codec, name)]
    if missing or isinstance(codec, type):
        lacks = "an instance of it" if isinstance(codec, type) else f"one with {missing[0]}"
        raise DefinitionError(f"codec is {shown(codec)}: give {lacks}, or JsonCodec(...)")
    name = codec.type_name
    fix = name_fix(name, reserved="")
    if fix is not None:
        raise DefinitionError(f"codec type_name is {shown(name)}: {fix}")
    return CodecEntry(codec, name, _kind_of(codec), _key_of(codec, class_))


def _kind_of(codec: Any) -> str:
    kind: Any = getattr(codec.wire_kind, "wire_kind", codec.wire_kind)
    if isinstance(kind, str) and kind in WIRE_KINDS:
        return kind
    fix = f"give one of {', '.join(map(repr, WIRE_KINDS))}"
    raise DefinitionError(f"codec {codec.type_name} wire_kind is {shown(kind)}: {fix}")


def _key_of(codec: Any, class_: Any) -> ClassKey:
    name, expected = codec.type_name, getattr(codec, "expected_type", None)
    if expected is not None and not isinstance(expected, type):
        fix = "give a class, or leave it out"
        raise DefinitionError(f"codec {name} expected_type is {shown(expected)}: {fix}")
    if class_ is None:
        class_ = expected
    elif expected is not None and class_key(class_) != class_key(expected):
        given = f"{class_.__qualname__}, and its expected_type is {expected.__qualname__}"
        fix = "give both the same class, or leave expected_type out"
        raise DefinitionError(f"codec {name} is given for {given}: {fix}")
    key = ("", name) if class_ is None else class_key(class_)
    module, plain = key if key[0] else ("builtins", name.removeprefix("builtins."))
    if plain in _TAKEN and module in ("builtins", "typing"):
        fix = "such values are stored as they are; give a codec for a class of your own"
        raise DefinitionError(f"codec {name} is for a built-in type: {fix}")
    return key


NO_CODECS = CodecRegistry()
