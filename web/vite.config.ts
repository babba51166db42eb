import { resolve } from "node:path";
import { defineConfig } from "vite";

const page = (name: string) => resolve(import.meta.dirname, `${name}.html`);

// Names have no hashes: `dist` is in the repository, and a change should be a change of a file, not a new one.
export default defineConfig({
  base: "./",
  publicDir: "public",
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      // A report is written by the command, which puts the script and the style into it.
      input: { play: page("play"), gateway: page("gateway"), report: resolve(import.meta.dirname, "src/report/main.ts") },
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  worker: {
    format: "es",
    rollupOptions: { output: { entryFileNames: "assets/[name].js", assetFileNames: "assets/[name][extname]" } },
  },
});
