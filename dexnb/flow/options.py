"""`StepOptions` and `RetryPolicy`: what a Step says about timeouts, retries, locks and recovery."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dexnb.flow.attribute import AttributeLock, AttributeMap, AttributeMapLoad
    from dexnb.flow.channel import Channel
    from dexnb.flow.channel_map import ChannelMap, ChannelMapLoad
    from dexnb.flow.step import Step


class StepDurability(Enum):
    """How safely a Step's result is written.

    DEFAULT is SYNC. ASYNC acknowledges without waiting for the disk: a power cut may run the Step
    again.
    """

    DEFAULT = "default"
    SYNC = "sync"
    ASYNC = "async"


class WaitForFailurePolicy(Enum):
    """What follows when no retry of wait_for is left.

    FAIL_FLOW ends the Flow. PROCEED runs execute without a wait: it sees
    `context.wait_for_method_failed()` and `context.recovery_error`.
    """

    FAIL_FLOW = "fail_flow"
    PROCEED = "proceed"


@dataclass(frozen=True)
class RetryPolicy:
    """When a failed attempt of a Step is tried again; what cannot hold is refused by the registry.

    Durations are above zero and at most 100 years, or `timedelta.max` for no limit.

    Args:
        initial_interval: Delay before the second attempt; default 1 s.
        backoff_coefficient: Factor between delays, at least 1; 0 selects the default of 2.
        maximum_interval: Longest delay, at least the initial one; default 100 s.
        maximum_attempts: Attempts in all, the first included; 0 for no limit, the default.
        total_duration: Time from the first delivery after which no retry begins; default 4 h. It
            never cuts a running attempt.
    """

    initial_interval: timedelta | None = None
    backoff_coefficient: float = 0.0
    maximum_interval: timedelta | None = None
    maximum_attempts: int = 0
    total_duration: timedelta | None = None


@dataclass(frozen=True)
class Recovery:
    """Where an exhausted Step leads; `options` None means the target's own."""

    step: type[Step[Any]]
    options: StepOptions | None = None


@dataclass(frozen=True)
class StepOptions:
    """What a Step asks of the runtime; everything left out has a default, a zero timeout too.

    Fields that begin with `wait_for_` are about that method, `execute_` about the other one. Plain
    Attributes are always there to read; maps and the pending messages of Channels must be loaded.

    Args:
        execute_method_timeout: Longest run of one attempt of execute; default 2 h.
        heartbeat_timeout: Longest silence of a running attempt before it is failed and retried;
            default 60 s, at least 10 s unless the runtime allows less.
        execute_retry: When a failed attempt of execute is tried again.
        execute_durability: How safely the result is written.
        wait_for_method_timeout: Longest run of one attempt of wait_for; default 2 h. The wait that
            follows has no limit of its own: give it a Timer.
        wait_for_retry: When a failed attempt of wait_for is tried again.
        wait_for_failure: What follows when no retry of wait_for is left.
        wait_for_durability: How safely the wait is written.
        wait_for_lock_attributes: Attributes that no other method holds meanwhile.
        execute_lock_attributes: The same; do not hold one through a long poll.
        wait_for_load_attribute_maps: Maps to load with all their instances.
        execute_load_attribute_maps: The same.
        wait_for_load_attribute_map_instances: Single instances, from `AttributeMap.load(...)`.
        execute_load_attribute_map_instances: The same.
        wait_for_load_channels: Channels whose pending messages are read.
        execute_load_channels: The same.
        wait_for_load_channel_maps: Maps of Channels with all their instances.
        execute_load_channel_maps: The same.
        wait_for_load_channel_map_instances: Single ones, from `ChannelMap.load_messages(...)`.
        execute_load_channel_map_instances: The same.
    """

    execute_method_timeout: timedelta | None = None
    heartbeat_timeout: timedelta | None = None
    execute_retry: RetryPolicy | None = None
    execute_durability: StepDurability = StepDurability.DEFAULT
    wait_for_method_timeout: timedelta | None = None
    wait_for_retry: RetryPolicy | None = None
    wait_for_failure: WaitForFailurePolicy = WaitForFailurePolicy.FAIL_FLOW
    wait_for_durability: StepDurability = StepDurability.DEFAULT
    wait_for_lock_attributes: tuple[AttributeLock, ...] = ()
    execute_lock_attributes: tuple[AttributeLock, ...] = ()
    wait_for_load_attribute_maps: tuple[AttributeMap[Any], ...] = ()
    execute_load_attribute_maps: tuple[AttributeMap[Any], ...] = ()
    wait_for_load_attribute_map_instances: tuple[AttributeMapLoad, ...] = ()
    execute_load_attribute_map_instances: tuple[AttributeMapLoad, ...] = ()
    wait_for_load_channels: tuple[Channel[Any], ...] = ()
    execute_load_channels: tuple[Channel[Any], ...] = ()
    wait_for_load_channel_maps: tuple[ChannelMap[Any], ...] = ()
    execute_load_channel_maps: tuple[ChannelMap[Any], ...] = ()
    wait_for_load_channel_map_instances: tuple[ChannelMapLoad, ...] = ()
    execute_load_channel_map_instances: tuple[ChannelMapLoad, ...] = ()
    recovery: Recovery | None = field(default=None, kw_only=True)

    def on_execute_failure_proceed_to(
        self, step: type[Step[Any]], options: StepOptions | None = None
    ) -> StepOptions:
        """Give a copy that leads to `step`, with the same input, when no retry is left.

        A second call replaces the first. The recovery Step reads `context.recovery_error`.
        """
        return replace(self, recovery=Recovery(step, options))
