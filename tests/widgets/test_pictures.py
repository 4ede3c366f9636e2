"""Pictures of runs: the same bytes for the same run, bounded, well-formed, and no code in them."""

from __future__ import annotations

import base64
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dexnb.model.run_view import new_view, view_of
from dexnb.widgets.fallback import fallback_html, html_page, status_text
from dexnb.widgets.timeline_svg import timeline_svg
from tests.widgets.pages import event, page, started

NASTY = '"><script>alert(1)</script>\x00\x0b\ud800\u202e onload="x'


def run_view(rounds: int = 5, text: str = '"A"') -> dict[str, Any]:
    """Fold a run whose first attempt fails and whose second one succeeds."""
    events = []
    for number in range(rounds):
        at = 2.0 * number
        events += [
            event(10 + number * 4, "round_call", at, line=1, what="call"),
            event(11 + number * 4, "round_sleep", at + 0.4, line=2, what="sleep"),
            event(12 + number * 4, "heartbeat", at + 0.4, checkpoint=text, cleared=False),
        ]
    end = 2.0 * rounds
    failure = {"error_type": "builtins.ValueError", "detail": text, "last_error": None}
    second = event(10_001, "attempt_started", end + 1, **_limits(checkpoint=text))
    events += [
        event(9_000, "stream_message", 1.0, stream="Progress", value=text),
        event(9_999, "attempt_ended", end, failure=failure),
        event(10_000, "retry_scheduled", end, attempt=2, delay=1.0),
        _second(second),
        _second(event(10_002, "attempt_ended", end + 3, decision="graceful_complete")),
        event(3, "step_completed", end + 3, decision={"kind": "graceful_complete"}),
        event(4, "flow_closed", end + 3, "", status="COMPLETED", error_type="", error_message=""),
    ]
    return view_of(started(*events))


def _second(made: Any) -> Any:
    from dataclasses import replace

    return replace(made, attempt=2)


def _limits(checkpoint: str) -> dict[str, Any]:
    return {
        "deliveries": 1,
        "first_attempt_at": 0.0,
        "checkpoint": checkpoint,
        "execute_method_timeout": 600.0,
        "heartbeat_timeout": 60.0,
        "maximum_attempts": 3,
        "total_duration": 600.0,
    }


def parsed(svg: str) -> ET.Element:
    """Parse a picture as XML."""
    return ET.fromstring(svg)  # noqa: S314 - what we drew ourselves


def texts(svg: str) -> str:
    """Give all text of a picture."""
    return " ".join(parsed(svg).itertext())


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_a_timeline_shows_attempts_failure_retry_and_messages(theme: Any) -> None:
    """And draws the same bytes twice."""
    svg = timeline_svg(run_view(), theme=theme)
    said = texts(svg)
    for part in ("Poll-1", "2 attempts", "✕ ValueError", "✓ graceful_complete", "Progress"):
        assert part in said
    for kind in ("call", "sleep", "beat", "gap", "att failed", "att ok", "msg"):
        assert f'class="{kind}"' in svg
    assert timeline_svg(run_view(), theme=theme) == svg
    assert ("prefers-color-scheme" in svg) == (theme == "auto")


def test_a_run_of_50000_rounds_is_a_small_picture() -> None:
    """Strokes in one pixel column are drawn once."""
    assert len(timeline_svg(run_view(rounds=50_000))) < 120_000


def test_a_thousand_executions_are_bounded() -> None:
    """The newest lanes are drawn, and the picture says that there were more."""
    events = []
    for number in range(1, 1001):
        key = f"Poll-{number}"
        events.append(
            event(
                number + 1,
                "step_scheduled",
                float(number),
                key,
                step_type="Poll",
                input=None,
                options=None,
                from_step_execution_id="",
                recovery_error=None,
            )
        )
    svg = timeline_svg(view_of([started()[0], *events]))
    assert "earlier executions are not shown" in texts(svg)
    assert len(svg) < 30_000


def test_text_from_outside_stays_text() -> None:
    """Names, messages, checkpoints and errors are escaped and cleaned; pictures stay XML."""
    view = run_view(text=NASTY)
    view["flow_id"] = view["flow_type"] = NASTY
    svg = timeline_svg(view)
    html = fallback_html({**page(view), "title": NASTY}, "")
    parsed(svg)
    for text in (svg, html, html_page(NASTY, html)):
        assert "<script" not in text
        assert not re.search(r'onload="', text)
        assert not re.search("[\x00\x0b\ud800\u202e]", text)


def test_a_run_that_was_not_started_has_a_picture() -> None:
    """The graph alone, and the words that say so."""
    html = fallback_html(page(new_view()), "<svg></svg>")
    assert "not started" in html
    assert "<svg></svg>" in html
    parsed(timeline_svg(new_view()))


def test_a_picture_for_a_notebook_that_is_not_trusted_is_an_image() -> None:
    """Its text is the picture's name; it is drawn on a ground of its own, at its own size."""
    view = run_view(text=NASTY)
    view["flow_id"] = NASTY
    html = fallback_html(page(view), "<p>no picture</p>", images=True)
    assert "<p>no picture</p>" in html
    assert "<svg" not in html
    (image,) = re.findall(r"<img [^>]*>", html)
    assert 'alt="Timeline of Flow ' in image
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', image)
    assert data is not None
    picture = parsed(base64.b64decode(data[1]).decode())
    assert picture.get("width") == "960"
    assert texts(timeline_svg(view)) == " ".join(picture.itertext())
    ground = next(each for each in picture.iter() if each.tag.endswith("rect"))
    assert ground.get("fill") == "var(--bg)"


def test_the_fallback_says_status_rounds_and_last_messages() -> None:
    """What a reader without a kernel needs to know."""
    html = fallback_html(page(run_view()), "<svg></svg>")
    for part in ("COMPLETED flow, 0:13", "2 attempts", "5 rounds", "Last messages of 1"):
        assert part in html
    assert status_text(run_view()) == "COMPLETED flow, 0:13"
