// The pictures of the pages in README and docs. FAIRWIRE_PICTURES=1 writes them anew; otherwise a look that it can be made.

import { join } from "node:path";
import { expect, test } from "./page";

const PICTURES = join(import.meta.dirname, "..", "..", "docs", "pictures");

test("the picture of the playground can be taken", async ({ page, site }) => {
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(site);
  const clock = page.locator("[data-now]");
  await page.getByLabel("speed").selectOption("4");
  await expect.poll(async () => Number(await clock.getAttribute("data-now")), { timeout: 30_000 }).toBeGreaterThan(12);
  await page.getByRole("button", { name: "Pause" }).click();
  const picture = await page.screenshot(process.env["FAIRWIRE_PICTURES"] ? { path: join(PICTURES, "play.png") } : {});
  expect(picture.length).toBeGreaterThan(20_000);
});
