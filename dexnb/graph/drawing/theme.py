"""The colours of a picture: safe for colour-blind readers, light and dark.

A picture with a theme of its own has plain colours, because programs that are no browser know no
variables. One that follows its page has variables: the notebook's own theme first, where the page
says which it is, or else what the reader's system prefers.
"""

from __future__ import annotations

from string import Template
from typing import Literal

Theme = Literal["auto", "light", "dark"]

FONT = (
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','DejaVu Sans','Liberation Sans',"
    "'Noto Sans',Arial,sans-serif"
)
MONO = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono','Noto Sans Mono',monospace"

LIGHT = {
    "bg": "#ffffff",
    "fg": "#1f2430",
    "sub": "#5c6675",
    "line": "#cfd5df",
    "panel": "#f5f7fb",
    "edge": "#6b7686",
    "go": "#0072b2",
    "ok": "#007f5c",
    "bad": "#b84a00",
    "rec": "#b3176f",
    "odd": "#946000",
    "res": "#7a46a8",
    "on": "#ffffff",
}
DARK = {
    "bg": "#15181e",
    "fg": "#e6e9ef",
    "sub": "#9aa4b5",
    "line": "#3a4250",
    "panel": "#1e232c",
    "edge": "#8a95a8",
    "go": "#56a8e0",
    "ok": "#35c79a",
    "bad": "#ff8a4c",
    "rec": "#f06ab0",
    "odd": "#e69f00",
    "res": "#c39be3",
    "on": "#10131a",
}
_NOTEBOOK = {"bg": "--jp-layout-color1", "fg": "--jp-ui-font-color1"}

_RULES = """
.g{fill:$bg}text{fill:$fg;font-family:$font;font-size:12px;direction:ltr;unicode-bidi:isolate}
.h{font-size:16px;font-weight:600}.n{font-size:14px;font-weight:600}
.s{fill:$sub;font-size:10.5px}.m{font-family:$mono;font-size:11px}
.k{font-family:$mono;font-size:11px;fill:$sub}.i{font-family:$mono;font-size:11px;fill:$res}
.f{fill:$bg;stroke:$line;stroke-width:1.5}.f.running{stroke:$go;stroke-width:2.5}
.f.done{stroke:$ok}.f.failed{stroke:$bad}.f.sub{stroke:$sub;stroke-dasharray:5 4}
.f.unknown{stroke:$odd;stroke-dasharray:4 3}.f.rpc{stroke:$res}
.c{fill:$panel;stroke:$line}.c.go{stroke:$go}.c.ok{stroke:$ok}.c.bad{stroke:$bad}
.c.unknown{stroke:$odd;stroke-dasharray:4 3}.c.w{stroke:$sub}
.p{fill:$panel;stroke:$line}.r{fill:none;stroke:$line}
.t{fill:none;stroke:$edge}.d{fill:$bg;stroke:$edge}.dt{font-size:11px;font-weight:700}
.e{fill:none;stroke:$edge;stroke-width:1.6}.e.rec{stroke:$rec}.e.sub{stroke-dasharray:5 4}
.e.taken{stroke:$go;stroke-width:2.4}.e.odd{stroke:$odd}
.a{fill:$edge}.a.taken{fill:$go}.a.rec{fill:$rec}.a.odd{fill:$odd}
.lb{fill:$bg}.l{fill:$sub;font-size:10.5px}.l.rec{fill:$rec}
.st{fill:$ok}.st.to{fill:$rec}.stt{fill:$on;font-size:10px;font-weight:700}
.v{fill:none;stroke:$ok}.v.bad{stroke:$bad}.vt{fill:$ok;font-size:11px}.vt.bad{fill:$bad}
.b{stroke:$bg;stroke-width:1.5}.b.error{fill:$bad}.b.warning{fill:$odd}.b.note{fill:$go}
"""


def root_class(theme: Theme) -> str:
    """Name the class of a picture's root; the style of one picture reaches no other on a page."""
    return f"dxg-{theme}"


def style(theme: Theme) -> str:
    """Give the style sheet of a picture."""
    name = f".{root_class(theme)}"
    if theme != "auto":
        palette = LIGHT if theme == "light" else DARK
        # The variable is for who puts a picture on a ground of its own.
        return f"{name}{{--bg:{palette['bg']}}}{_rules(name, palette)}"
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f"{name}{{{light}}}@media(prefers-color-scheme:dark){{{name}{{{dark}}}}}"
        f'[data-jp-theme-light="true"] {name},.vscode-light {name}{{{light}}}'
        f'[data-jp-theme-light="false"] {name},.vscode-dark {name}{{{dark}}}'
        + _rules(name, {key: f"var(--{key})" for key in LIGHT})
    )


def _variables(palette: dict[str, str]) -> str:
    def value(key: str) -> str:
        own = _NOTEBOOK.get(key)
        return f"var({own},{palette[key]})" if own else palette[key]

    return ";".join(f"--{key}:{value(key)}" for key in palette)


def _rules(name: str, palette: dict[str, str]) -> str:
    text = Template(_RULES).substitute(palette, font=FONT, mono=MONO)
    rules = (rule for rule in text.replace("\n", "").split("}") if rule)
    return "".join(f"{name} {rule}}}" for rule in rules)
