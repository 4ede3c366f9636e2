/** Pictures of the demo, to be looked at: `node demo/shots.mjs FOLDER [NAME...]`. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { address, withBrowser } from "./browser.mjs";

const SHOTS = {
  light: { query: "log=retry&at=250&still" },
  dark: { query: "log=retry&at=250&still&theme=dark" },
  narrow: { query: "log=retry&at=250&still&width=800", width: 828 },
  phone: { query: "log=retry&at=250&still&width=480", width: 508 },
  failed: { query: "log=recovery&at=300&still" },
  healthy: { query: "log=healthy&at=400&still&theme=dark" },
  begin: { query: "log=healthy&at=9&still" },
  dispatcher: { query: "log=retry&at=250&still", click: "Dispatcher" },
  dispatcherdark: { query: "log=recovery&at=60&theme=dark&speed=1", click: "Dispatcher" },
  failing: { query: "log=failing&at=95&still", click: "Notes" },
  failingnarrow: { query: "log=failing&at=95&still&width=800&theme=dark", width: 828 },
  brief: { query: "log=brief&at=5&still" },
  silent: { query: "log=retry&at=200&speed=1&silent", wait: 8000 },
  waiting: { query: "log=shop&at=30&still", click: "State" },
  branches: { query: "log=shop&at=75&still", click: "State" },
  queued: { query: "log=shop&at=50&still", click: "State" },
  branchesdark: { query: "log=shop&at=75&still&theme=dark", click: "State" },
  branchesnarrow: { query: "log=shop&at=75&still&width=800", width: 828, click: "State" },
  shopstate: { query: "log=shop&at=400&still&theme=dark", click: "State" },
  shop: { query: "log=shop&at=400&still", click: "Notes" },
  layers: { query: "log=shop&at=75&still", press: /Attribute/ },
  layersdark: { query: "log=shop&at=75&still&theme=dark", press: /Attribute/ },
  crowd: { query: "crowd=12&rate=2000&at=30&still" },
};

const [folder = "demo/dist/shots", ...names] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
await withBrowser(async (context) => {
  const page = await context.newPage();
  page.on("console", (message) => console.log(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => console.log(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) console.log(`request: ${request.url()}`);
  });
  for (const name of names.length > 0 ? names : Object.keys(SHOTS)) {
    const { query, width = 1240, click, press, wait = 600 } = SHOTS[name];
    await page.setViewportSize({ width, height: 800 });
    await page.goto(address(query));
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    if (click) await page.getByRole("tab", { name: click }).click();
    if (press) await page.getByRole("button", { name: press }).click();
    await page.waitForTimeout(wait);
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    console.log(join(folder, `${name}.png`));
  }
});
