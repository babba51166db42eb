// What every test of a page watches for.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { serve } from "./serve";

const ROOT = join(import.meta.dirname, "..", "..");

/** The gateway's page, as it was built. */
export const GATEWAY = join(ROOT, "web", "dist", "gateway");

export interface Watched {
  /** The folder that is served: the playground, as `make site` wrote it, if a test names no other. */
  folder: string;
  /** The address of its page. */
  site: string;
}

/**
 * A page for which these are failures: a request to another host, an error in the console, and anything that the policy of content refused.
 */
export const test = base.extend<Watched>({
  folder: [join(ROOT, "out", "site"), { option: true }],
  site: async ({ page, folder }, use) => {
    const served = await serve(folder);
    const host = new URL(served.address).host;
    const faults: string[] = [];
    await page.route("**/*", (route) => {
      const url = new URL(route.request().url());
      if (url.host === host || url.protocol === "data:" || url.protocol === "blob:") return route.continue();
      faults.push(`a request to ${url.host}`);
      return route.abort();
    });
    page.on("console", (message) => {
      // A gateway that wants a token says so with this status, and Chromium writes a line of it.
      const isExpected = message.text().includes("favicon") || message.text().includes("401 (Unauthorized)");
      if (message.type() === "error" && !isExpected) faults.push(message.text());
    });
    page.on("pageerror", (error) => faults.push(String(error)));
    await use(served.address);
    expect(faults).toEqual([]);
    await served.close();
  },
});

/** axe finds nothing: roles, names, contrast, order of headings. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.html).join("; ")}`)).toEqual([]);
}

/** Nothing is wider than the window. */
export async function expectNoSideways(page: Page): Promise<void> {
  const [inner, whole] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  expect(whole).toBeLessThanOrEqual(inner ?? 0);
}

/** Printed, nothing is beyond the edge of the paper, and every word of the tables and headings is in the file. */
export async function expectPrintedWhole(page: Page): Promise<void> {
  // A4 upright within margins of 10 mm: 190 mm at 96 points to the inch.
  const width = 718;
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width, height: 1000 });
  const cut = await page.evaluate((width) => {
    const isCut = (element: Element) => {
      const box = element.getBoundingClientRect();
      const isShown = box.width > 0 && getComputedStyle(element).visibility !== "hidden";
      return isShown && (box.right > width + 1 || element.scrollWidth > element.clientWidth + 1) && element.closest("svg") === null;
    };
    return [...document.querySelectorAll("h1, h2, h3, p, td, th, pre, .wide, figure")].filter(isCut).map((element) => `${element.tagName}: ${(element.textContent ?? "").slice(0, 80)}`);
  }, width);
  expect(cut).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), "fairwire-print-"));
  try {
    const file = join(folder, "page.pdf");
    await page.pdf({ path: file, format: "A4", margin: { left: "10mm", right: "10mm", top: "10mm", bottom: "10mm" } });
    const printed = words(execFileSync("pdftotext", ["-layout", file, "-"], { maxBuffer: 1 << 28 }).toString());
    const wanted = await page.evaluate(() => {
      const shown = (element: HTMLElement) => element.offsetParent !== null && element.closest("details:not([open])") === null;
      return [...document.querySelectorAll<HTMLElement>("h1, h2, h3, td")].filter(shown).map((element) => element.innerText);
    });
    const missing = wanted.flatMap((text) => [...words(text)]).filter((word) => !printed.has(word));
    expect(missing).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await page.emulateMedia({ media: null });
  }
}

/** The words of a text that have letters or digits; a word that is divided at the end of a line is two. */
function words(text: string): Set<string> {
  return new Set(text.match(/[\p{L}\p{N}]+/gu) ?? []);
}

export { expect };
