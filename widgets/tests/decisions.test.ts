/** Decisions as one writes them. */

import { expect, it } from "vitest";
import { written } from "../src/decisions";

it.each([
  ["goTo", "go_to"],
  ["goToMany", "go_to_many"],
  ["next", "go_to"],
  ["gracefulComplete", "graceful_complete"],
  ["forceComplete", "force_complete"],
  ["forceCompleteIfChannelsEmpty", "force_complete_if_channels_empty"],
  ["force_fail", "force_fail"],
  ["deadEnd", "dead_end"],
  ["unknown", "unknown"],
  ["<B>", "<B>"],
  ["", ""],
])("%s is shown as %s", (name, words) => {
  expect(written(name)).toBe(words);
});
