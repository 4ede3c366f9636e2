"""What findings quote of the code: nothing that looks like a credential, and nothing endless."""

from __future__ import annotations

import pytest

from tests.lint.texts import poll, said

KEY = "sk-" + "live51H8xY2eZvKYlo2C9mQ7"
LONG = "x" * 5000


@pytest.mark.parametrize("kept", [repr(KEY), "STATE", f'f"{KEY}"', f'"{LONG}"', f'b"{LONG}"'])
def test_a_constant_checkpoint_is_told_without_secrets(kept: str) -> None:
    """By literal, by name, as a text with braces: hidden, and bounded."""
    text = poll(f'STATE = "{KEY}"', behind=f"await context.heartbeat({kept})")
    found = said(text.replace("            await context.heartbeat()\n", ""), ["DX305"])
    assert len(found) == (0 if kept.startswith("b") else 1)
    for each in found:
        assert KEY not in each.message
        assert len(each.message) < 400


@pytest.mark.parametrize(
    "state", [f"waiting-{KEY}", f"waiting-for-{LONG}", f"https://{'a:waiting1'}@host"]
)
def test_a_state_is_told_without_secrets(state: str) -> None:
    """A text that a wait compares with may be anything."""
    text = poll().replace("job.done or job.failed", f'job.state != "{state}"')
    found = said(text, ["DX308"])
    assert len(found) == 1
    assert state not in found[0].message
    assert len(found[0].message) < 400
