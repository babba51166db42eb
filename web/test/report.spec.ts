// The page of `reproduce`: one file that is opened from the disk, with the network off.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FAIRWIRE } from "./native";
import { expect, expectAccessible, expectNoSideways, test } from "./page";

let folder = "";
let address = "";

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fairwire-report-"));
  const exhibits = ["rqm.theorem1", "faba.table1", "atb.fig2a"];
  execFileSync(FAIRWIRE, ["--quiet", "reproduce", ...exhibits, "--quick", "--out", folder], { stdio: "ignore" });
  address = pathToFileURL(join(folder, "report.html")).href;
});
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a report is searched and filtered without a network", async ({ page, context }) => {
  await context.setOffline(true);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) faults.push(request.url());
  });
  await page.goto(address);
  const said = page.locator("form.filter output");
  const shown = page.locator("section.exhibit:visible");
  await expect(said).toHaveText("3 of 3 exhibits");
  await page.getByLabel("Search").fill("token BUCKETS");
  await expect(said).toHaveText("1 of 3 exhibits");
  await expect(shown).toHaveCount(1);
  await expect(shown).toHaveAttribute("id", "atb.fig2a");
  await expect(page.locator("h2:visible")).toHaveCount(1);
  await expect(page.locator("nav a:not([hidden])")).toHaveCount(1);
  await page.getByLabel("Search").fill("no such words");
  await expect(said).toHaveText("0 of 3 exhibits");
  await page.getByLabel("Search").fill("");
  for (const [verdict, fits] of [
    ["fails", "li .verdict.fails"],
    ["open", "li .verdict.none"],
  ] as const) {
    await page.getByLabel("Verdict").selectOption(verdict);
    const expected = await page.locator("section.exhibit").filter({ has: page.locator(fits) }).count();
    await expect(shown).toHaveCount(expected);
  }
  await page.getByLabel("Verdict").selectOption("holds");
  await expect(page.locator("section.exhibit:visible .verdict.fails")).toHaveCount(0);
  expect(faults).toEqual([]);
});

for (const scheme of ["light", "dark"] as const) {
  test(`a report is accessible, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(address);
    await expectAccessible(page);
  });
}

test("a report fits into 360 pixels", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(address);
  await expectNoSideways(page);
});

test("a report without scripts has all exhibits and no search", async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  await expect(page.locator("section.exhibit:visible")).toHaveCount(3);
  await expect(page.locator("form.filter")).toBeHidden();
  await context.close();
});
