/**
 * Shows the Lab without Jupyter. The address says what: `?log=retry&at=250&speed=10&theme=dark`,
 * or `?crowd=12&rate=2000`.
 */

import lab from "../src/index";
import { crowd } from "./crowd";
import { Kernel } from "./kernel";
import { recorded } from "./sources";

const asked = new URLSearchParams(location.search);
const number = (name: string, otherwise: number) => Number(asked.get(name) ?? otherwise);

document.body.dataset.jpThemeLight = asked.get("theme") === "dark" ? "false" : "true";
const stage = document.getElementById("stage") as HTMLElement;
stage.style.maxWidth = `${number("width", 1200)}px`;

const source = asked.has("crowd")
  ? crowd(number("crowd", 12), number("rate", 2000))
  : recorded(asked.get("log") ?? "retry");
const kernel = new Kernel(source, number("at", 0), number("speed", asked.has("crowd") ? 1 : 10));
lab.initialize({ model: kernel });
for (let view = 0; view < number("views", 1); view += 1) {
  const el = stage.appendChild(document.createElement("div"));
  el.style.marginBottom = "16px";
  lab.render({ model: kernel, el });
}
if (!asked.has("still")) kernel.play();
if (asked.has("silent")) {
  kernel.stop();
  kernel.deaf = true;
}
Object.assign(window, { kernel });
