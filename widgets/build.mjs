/** Bundles the page: `node build.mjs` for the wheel, `--demo` for demo/dist, `--watch` while working. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const LARGEST = 600_000;

/** React Flow's rules hold inside the Lab only: other widgets of the page may have their own. */
const scoped = {
  name: "scoped",
  setup(build) {
    build.onLoad({ filter: /@xyflow[\\/]react[\\/]dist[\\/]\w+\.css$/ }, async ({ path }) => {
      const rules = await readFile(path, "utf8");
      const frames = /@keyframes[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;
      const outside = (rules.match(frames) ?? []).join("\n");
      return { contents: `${outside}\n.dexnb {\n${rules.replace(frames, "")}\n}`, loader: "css" };
    });
  },
};

const common = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: ["es2022", "chrome112", "firefox115", "safari16"],
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  minify: true,
  legalComments: "none",
  charset: "ascii",
  logLevel: "warning",
  plugins: [scoped],
};

const page = {
  ...common,
  entryPoints: { lab: "src/index.tsx" },
  outdir: join(here, "../dexnb/widgets/static"),
};
const demo = {
  ...common,
  entryPoints: { demo: "demo/demo.ts" },
  outdir: join(here, "demo/dist"),
  // A page from the disk may not load modules; it holds its logs itself.
  format: "iife",
  loader: { ".jsonl": "text" },
};

async function tell(path) {
  const bytes = (await stat(path)).size;
  const packed = gzipSync(await readFile(path)).length;
  console.log(`${path.split(/[\\/]/).pop()}: ${bytes} bytes, ${packed} packed`);
  return bytes;
}

if (process.argv.includes("--watch")) {
  const context = await esbuild.context(page);
  await context.watch();
} else {
  await esbuild.build(page);
  const bytes = await tell(join(page.outdir, "lab.js"));
  await tell(join(page.outdir, "lab.css"));
  if (process.argv.includes("--demo")) await esbuild.build(demo);
  if (bytes > LARGEST) {
    console.error(`lab.js is over the limit of ${LARGEST} bytes`);
    process.exitCode = 1;
  }
}
