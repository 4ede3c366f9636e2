/** A headless Chromium with the demo in it. `CHROMIUM` names the program if it is elsewhere. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));

export function address(query) {
  return `${pathToFileURL(join(here, "index.html"))}?${query}`;
}

/** Open a browser, hand it over, and leave nothing of it behind. */
export async function withBrowser(use) {
  const folder = await mkdtemp(join(tmpdir(), "lab-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    return await use(context);
  } finally {
    await context.close();
    await rm(folder, { recursive: true, force: true });
  }
}
