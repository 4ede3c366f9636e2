/**
 * Decisions by the names that one writes in Python. Documents have names of their own: graphs
 * `goTo` and `gracefulComplete`, runs `next` and `graceful_complete`. The twin of
 * `dexnb.model.decision_name`.
 */

const CAMEL = /^[a-z]+(?:[A-Z][a-z]*)+$/;

export function written(name: string): string {
  if (name === "next") return "go_to";
  return CAMEL.test(name) ? name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`) : name;
}
