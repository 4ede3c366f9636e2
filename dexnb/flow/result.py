"""`FlowResult`: how a run ended, with its outputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dexnb.errors import FlowFailed, ValueMappingError
from dexnb.flow.codec import natural
from dexnb.flow.codecs import CODECS, NO_CODECS, CodecRegistry
from dexnb.flow.typed import decode
from dexnb.model.run_state import RunStatus


@dataclass(frozen=True)
class StepCompletion:
    """The output with which a branch of the Flow ended."""

    step_type: str
    step_execution_id: str
    document: Any
    has_output: bool
    codecs: CodecRegistry = field(default=NO_CODECS, repr=False, compare=False)

    def decode(self, type_: Any = Any) -> Any:
        """Give the output as a type.

        Raises:
            ValueMappingError: It is no such value.
        """
        with self.codecs.used():
            return decode(self.document, type_, f"output of {self.step_execution_id}")


@dataclass(frozen=True)
class FlowResult:
    """How a run ended; a failed one is a result too, not an exception.

    Args:
        flow_id: The Flow's id.
        run_id: The run.
        status: RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED.
        completions: The ends of its branches, in order.
        error_type: Why it failed, by `FlowErrorType`'s names, or FLOW_TIMEOUT if its timeout
            canceled it; else empty.
        error_message: The same in words.
    """

    flow_id: str
    run_id: str
    status: RunStatus
    completions: tuple[StepCompletion, ...] = ()
    error_type: str = ""
    error_message: str = ""

    @property
    def is_terminal(self) -> bool:
        """Tell whether the run has ended."""
        return self.status != "RUNNING"

    @property
    def output(self) -> Any:
        """The single output in its natural form; None if there is none.

        Raises:
            FlowFailed: The run did not complete.
            ValueMappingError: There are several outputs.
        """
        self.raise_for_failure()
        outputs = [completion for completion in self.completions if completion.has_output]
        if not outputs:
            return None
        return natural(self._single(outputs).document)

    def single_output(self, type_: Any) -> Any:
        """Give the one output as a type.

        Raises:
            FlowFailed: The run did not complete.
            ValueMappingError: There is none, there are several, or it is no such value.
        """
        self.raise_for_failure()
        outputs = [completion for completion in self.completions if completion.has_output]
        return self._single(outputs).decode(type_)

    def raise_for_failure(self) -> None:
        """Raise FlowFailed if the run ended without success."""
        if self.is_terminal and self.status != "COMPLETED":
            raise FlowFailed(self.flow_id, self.status, self.error_type, self.error_message)

    def _single(self, outputs: list[StepCompletion]) -> StepCompletion:
        if len(outputs) != 1:
            detail = f"Flow {self.flow_id} has {len(outputs)} outputs; read `completions` instead"
            raise ValueMappingError("single_output", detail)
        return outputs[0]


def result_from(document: dict[str, Any]) -> FlowResult:
    """Read the plain form in which a SubFlow's end reaches its parent."""
    return FlowResult(
        document.get("flow_id", ""),
        document.get("run_id", ""),
        document.get("status", "RUNNING"),
        completions_from(document.get("completions", ()), CODECS.get(NO_CODECS)),
        document.get("error_type", ""),
        document.get("error_message", ""),
    )


def completions_from(
    documents: Iterable[dict[str, Any]], codecs: CodecRegistry = NO_CODECS
) -> tuple[StepCompletion, ...]:
    """Read the plain form of the ends of a run's branches, whose outputs these codecs read."""
    return tuple(
        StepCompletion(
            document["step_type"],
            document["step_execution_id"],
            document.get("output"),
            "output" in document,
            codecs,
        )
        for document in documents
    )
