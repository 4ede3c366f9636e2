"""What goes wrong says so, for good or for now, and never as an exception of the backend's."""

from __future__ import annotations

from dexnb.providers import Beat
from dexnb.testing.conformance.case import Case, case, lost, refused


class TestErrorHandling:
    """Errors name the operation and say whether to try again."""

    @case
    async def test_an_unknown_token_is_refused_by_every_operation(self, store: Case) -> None:
        """Nothing can be done with a token that was never given out."""
        provider = store.provider
        await store.locked_run()
        await lost(provider.ack_orchestration_item, "no token", store.commit("a", events=[2]))
        await lost(provider.abandon_orchestration_item, "no token")
        await lost(provider.renew_orchestration_item_lock, "no token", 5.0)
        await lost(provider.ack_work_item, "no token")
        await lost(provider.abandon_work_item, "no token")
        await lost(provider.renew_work_item_lock, "no token", 5.0)
        assert await provider.record_beats([Beat("no token", "1")]) == {"no token"}
        assert await provider.renew_work_item_locks(["no token"], 5.0) == {"no token"}

    @case
    async def test_the_two_queues_do_not_know_each_others_tokens(self, store: Case) -> None:
        """A run's token does nothing to work items, and the other way round."""
        work = await store.started_work()
        await store.send()
        run = await store.take_run()
        await lost(store.provider.ack_work_item, run.token)
        await lost(store.provider.renew_orchestration_item_lock, work.token, 5.0)
        await store.provider.ack_work_item(work.token)
        await store.provider.ack_orchestration_item(run.token, store.turn(run))

    @case
    async def test_a_token_is_good_for_its_own_run_alone(self, store: Case) -> None:
        """A turn of another run under this run's token is refused; both runs stay as they are."""
        item = await store.locked_run("a")
        await store.start("b")
        await refused(
            store.provider.ack_orchestration_item, item.token, store.commit("b", events=[2])
        )
        for run_id in ("run-a", "run-b"):
            assert len(await store.provider.read_events(run_id)) == 1

    @case
    async def test_what_is_unknown_reads_empty(self, store: Case) -> None:
        """To ask for a run, a flow id or a Stream that nobody wrote is no error."""
        provider = store.provider
        assert await provider.read_run(run_id="run-x") is None
        assert await provider.read_run(flow_id="flow-x") is None
        assert await provider.read_events("run-x") == ()
        assert await provider.read_telemetry("run-x") == ()
        assert await provider.read_stream("Polling", "progress") == ()
        assert await provider.list_runs() == ()

    @case
    async def test_an_error_names_its_operation(self, store: Case) -> None:
        """The reader of a log sees which call failed."""
        error = await refused(store.provider.ack_work_item, "no token")
        assert error.operation == "ack_work_item"
        assert "no token" in str(error)

    @case
    async def test_a_second_close_does_nothing(self, store: Case) -> None:
        """Whoever closes twice, or after somebody else, is not punished for it."""
        await store.provider.close()
        await store.provider.close()
