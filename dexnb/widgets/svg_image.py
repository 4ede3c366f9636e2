"""A picture as an `<img>`, which stays in a notebook that a host does not trust; SVG does not."""

from __future__ import annotations

import base64
import re

_HEAD = re.compile(
    r'<svg(?P<more>[^>]*?) aria-label="(?P<name>[^"]*)" viewBox="(?P<box>[-0-9. ]+)"[^>]*>'
)
_STYLE_END = "</style>"


def svg_image(svg: str) -> str:
    """Give an SVG of ours as an image whose text is what the SVG calls itself.

    It has a ground of its own, because an image does not learn of the page's theme. What is no
    such SVG is given back as it is.
    """
    head = _HEAD.match(svg)
    if head is None:
        return svg
    x, y, width, height = head["box"].split()
    start = f'<svg{head["more"]} width="{width}" height="{height}" viewBox="{head["box"]}">'
    ground = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="var(--bg)"/>'
    body = svg[head.end() :].replace(_STYLE_END, _STYLE_END + ground, 1)
    data = base64.b64encode(f"{start}{body}".encode()).decode()
    return (
        f'<img alt="{head["name"]}" width="{float(width):.0f}" style="max-width:100%;height:auto" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
