// What every test of a page watches for.

import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { serve } from "./serve";

/** The built pages. */
export const DIST = join(import.meta.dirname, "..", "dist");

export interface Watched {
  /** The address of the built pages, served as a static site. */
  site: string;
}

/**
 * A page for which these are failures: a request to another host, an error in the console, and anything that the policy of content refused.
 */
export const test = base.extend<Watched>({
  site: async ({ page }, use) => {
    const served = await serve(DIST);
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

export { expect };
