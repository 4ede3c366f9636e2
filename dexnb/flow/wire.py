"""`CodecEntry`: a codec as the runtime calls it, with what it gives checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dexnb.flow.tags import Unfit
from dexnb.model.shown import shown

if TYPE_CHECKING:
    from dexnb.flow.codecs import Codec

WIRE_KINDS: dict[str, tuple[type[Any], ...]] = {
    "string": (str,),
    "bool": (bool,),
    "int64": (int,),
    "double": (float, int),
    "bytes": (bytes, bytearray),
    "object": (object,),
}
"""What a codec may give, by the name of its wire kind."""

CODECS_FIX = "codecs=CodecRegistry([...])"
"""Where codecs are given: to `dexnb.open`, a Runtime or a Client."""

GIVE_CODEC = f"give the codec that stored it, {CODECS_FIX}"

_MOST = 2**63

ClassKey = tuple[str, str]
"""A class by its module and name: what it has in common with the one that a cell defines again."""


def class_key(class_: type) -> ClassKey:
    """Give the key of a class."""
    return (class_.__module__, class_.__qualname__)


@dataclass(frozen=True, slots=True)
class CodecEntry:
    """A codec that was checked.

    Args:
        codec: The codec.
        name: Its type's name.
        kind: Its wire kind's name.
        key: The class that it is for; without a module where only the name is known.
    """

    codec: Codec[Any]
    name: str
    kind: str
    key: ClassKey

    def write(self, value: Any, path: str) -> Any:
        """Give the plain value.

        Raises:
            Unfit: The codec failed, or gave something else than its wire kind.
        """
        try:
            plain = self.codec.encode(value)
        except Exception as error:
            raise Unfit(f"{path}: {self._failed('encode', value, error)}") from error
        if not self._fits(plain):
            fix = f"its encode must give what its wire_kind {self.kind!r} says"
            raise Unfit(f"{path}: codec {self.name} gave {shown(plain)}; {fix}")
        return float(plain) if self.kind == "double" else plain

    def read(self, plain: Any, path: str) -> Any:
        """Make a value of a plain one.

        Raises:
            Unfit: It is of another wire kind, or the codec failed.
        """
        if not self._fits(plain):
            stands = f"{path} must be {self.name} as {self.kind}, stands {shown(plain)}"
            raise Unfit(f"{stands}; {GIVE_CODEC}")
        try:
            return self.codec.decode(plain)
        except Exception as error:
            fix = f"its decode must take what its encode gives: correct it, or {GIVE_CODEC}"
            raise Unfit(f"{path}: {self._failed('decode', plain, error)}; {fix}") from error

    def _failed(self, did: str, value: Any, error: Exception) -> str:
        said = f"{type(error).__name__}: {error}"
        return f"codec {self.name} cannot {did} {shown(value)}: {said}"

    def _fits(self, plain: Any) -> bool:
        if plain is None or not isinstance(plain, WIRE_KINDS[self.kind]):
            return False
        if isinstance(plain, bool):
            return self.kind in ("bool", "object")
        return self.kind != "int64" or -_MOST <= int(plain) < _MOST
