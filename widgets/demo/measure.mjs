/**
 * How the page keeps up with many events a second in a real browser: `node demo/measure.mjs`.
 * Prints drawings a second and the time of the main thread, and fails below 12 drawings.
 */
import { address, withBrowser } from "./browser.mjs";

const LEAST = 12;
const SECONDS = 8;
const CASES = [
  { name: "12 Steps, 2,000 events/s", query: "crowd=12&rate=2000&at=60" },
  { name: "12 Steps, 5,000 events/s", query: "crowd=12&rate=5000&at=60" },
  { name: "2 views of 12 Steps, 2,000 events/s", query: "crowd=12&rate=2000&at=60&views=2" },
];

/** In the page: count what is drawn, and how long tasks hold the thread. */
function watch(seconds) {
  const lanes = document.querySelector(".dexnb-lanes svg");
  let drawn = 0;
  let blocked = 0;
  let longest = 0;
  new MutationObserver(() => {
    drawn += 1;
  }).observe(lanes, { subtree: true, attributes: true, attributeFilter: ["d"] });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      blocked += entry.duration;
      longest = Math.max(longest, entry.duration);
    }
  }).observe({ entryTypes: ["longtask"] });
  const before = window.kernel.page.view.steps["Await0-1"].attempts[0].beat_count;
  return new Promise((done) => {
    setTimeout(() => {
      const beats = window.kernel.page.view.steps["Await0-1"].attempts[0].beat_count - before;
      done({ drawn, blocked, longest, beats });
    }, seconds * 1000);
  });
}

await withBrowser(async (context) => {
  const page = await context.newPage();
  await page.setViewportSize({ width: 1240, height: 1200 });
  for (const { name, query } of CASES) {
    await page.goto(address(query));
    await page.waitForTimeout(1500);
    const { drawn, blocked, longest, beats } = await page.evaluate(watch, SECONDS);
    const frames = drawn / SECONDS;
    const share = Math.round((blocked / SECONDS / 1000) * 100);
    const events = Math.round((beats * 36) / SECONDS);
    console.log(
      `${name}: ${frames.toFixed(1)} drawings/s, ${events} events/s folded, ` +
        `long tasks ${share} % of the time, longest ${Math.round(longest)} ms`,
    );
    if (name.startsWith("12 Steps, 2,000") && frames < LEAST) process.exitCode = 1;
  }
});
