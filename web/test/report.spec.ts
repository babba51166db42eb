// The pages of `reproduce` and of sweeps: one file that is opened from the disk, with the network off.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FAIRWIRE } from "./native";
import { expect, expectAccessible, expectNoSideways, expectPrintedWhole, test } from "./page";

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

test("a report is printed completely", async ({ page }) => {
  await page.goto(address);
  await expectPrintedWhole(page);
});

test("a report without scripts has all exhibits and no search", async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  await expect(page.locator("section.exhibit:visible")).toHaveCount(3);
  await expect(page.locator("form.filter")).toBeHidden();
  await context.close();
});

test.describe("the page of a sweep", () => {
  const PLAN = `format = 1
scenario = "base.toml"
seeds = "1..=2"
measures = ["jain", "utilization", "sojourn_mean_s"]
[vary]
discipline = ["tail-drop", "faba"]
"link.buffer" = ["20 packets", "100 packets", "60 packets"]
`;
  const BASE = `format = 2
name = "base"
title = "One <flow> & another"
duration = "4 s"
warm_up = "1 s"
disciplines = ["tail-drop"]
[link]
rate = "2 Mbit/s"
delay = "5 ms"
buffer = "20 packets"
[[flow]]
group = "tcp"
count = 2
source = "bulk"
access = { rate = "100 Mbit/s", delay = "2 ms" }
`;
  let sweep = "";
  test.beforeAll(() => {
    writeFileSync(join(folder, "base.toml"), BASE);
    writeFileSync(join(folder, "plan.toml"), PLAN);
    const file = join(folder, "sweep.html");
    execFileSync(FAIRWIRE, ["--quiet", "sweep", join(folder, "plan.toml"), "--plot", file], { stdio: "ignore" });
    sweep = pathToFileURL(file).href;
  });

  test("its cells are searched, chosen and sorted without a network", async ({ page, context }) => {
    await context.setOffline(true);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith("file:")) faults.push(request.url());
    });
    await page.goto(sweep);
    await expect(page.locator("h1")).toHaveText("One <flow> & another: sweep over link.buffer, discipline");
    await expect(page.locator("figure svg")).toHaveCount(1);
    const said = page.locator("form.filter output");
    const rows = page.locator("tbody tr:visible");
    await expect(said).toHaveText("6 of 6 cells");
    await page.getByLabel("Search").fill("100 PACKETS");
    await expect(said).toHaveText("2 of 6 cells");
    await page.getByLabel("discipline").selectOption("faba");
    await expect(rows).toHaveCount(1);
    await expect(rows.first()).toContainText("100 packets");
    await page.getByLabel("Search").fill("");
    await expect(said).toHaveText("3 of 6 cells");
    // By the number, and not by its text; and back to the order of the plan.
    const column = async (index: number) => page.locator(`tbody tr:visible td:nth-child(${index})`).allTextContents();
    const head = page.getByRole("button", { name: "sojourn_mean_s" });
    const written = await column(1);
    const mean = async () => (await column(6)).map((text) => Number(text.split(" ")[0]));
    await head.press("Enter");
    const up = await mean();
    expect(up).toEqual([...up].sort((a, b) => a - b));
    await head.press("Enter");
    expect(await mean()).toEqual([...up].reverse());
    await head.press("Enter");
    expect(await column(1)).toEqual(written);
    expect(faults).toEqual([]);
  });

  test("without scripts it has every cell, and no search", async ({ browser }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(sweep);
    await expect(page.locator("tbody tr:visible")).toHaveCount(6);
    await expect(page.locator("form.filter, button")).toBeHidden();
    await context.close();
  });

  test("it is printed completely, also with all measures of a run", async ({ page }) => {
    await page.goto(sweep);
    await expectPrintedWhole(page);
    const plan = join(folder, "all.toml");
    writeFileSync(plan, PLAN.replace(/^measures.*$/m, ""));
    execFileSync(FAIRWIRE, ["--quiet", "sweep", plan, "--store", join(folder, "all"), "--plot", join(folder, "all.html")], { stdio: "ignore" });
    await page.goto(pathToFileURL(join(folder, "all.html")).href);
    expect(await page.locator("thead th").count()).toBeGreaterThan(12);
    await expectPrintedWhole(page);
  });

  test("it fits into 360 pixels", async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(sweep);
    await expectNoSideways(page);
  });

  for (const scheme of ["light", "dark"] as const) {
    test(`it is accessible, ${scheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(sweep);
      await expectAccessible(page);
    });
  }
});
