import { resolve } from "node:path";
import { defineConfig } from "vite";

const folder = (...path: string[]) => resolve(import.meta.dirname, ...path);
// A file is named after its part, without a hash: `dist` is in the repository, and a change should be a change of a file, not a new one.
const output = { entryFileNames: "[name].js", assetFileNames: "[name][extname]" };

/**
 * `--mode` names the part: a page, or the reports. A program has the files of its own parts alone, so no part shares a file with another.
 *
 * `public` has what the playground loads while it runs. A development server shows it, and a build does not copy it.
 */
export default defineConfig(({ mode: part }) => ({
  root: folder("src", part),
  base: "./",
  publicDir: folder("public"),
  build: {
    target: "es2022",
    outDir: folder("dist", part),
    emptyOutDir: true,
    copyPublicDir: false,
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    // A report is written by the command, which puts the script and the style into it.
    rollupOptions: { input: { [part]: folder("src", part, part === "report" ? "main.ts" : "index.html") }, output },
  },
  worker: { format: "es", rollupOptions: { output } },
}));
