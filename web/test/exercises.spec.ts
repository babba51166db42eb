import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { EXERCISES, run } from "./native";
import { expect, expectAccessible, expectNoSideways, test } from "./page";

const card = (page: Page) => page.getByRole("region", { name: "lesson" });
const rows = (page: Page) => card(page).locator(".expected tbody tr");

/** Runs what is there to its end, and waits for the verdicts. */
async function judged(page: Page): Promise<string[]> {
  await card(page).getByRole("button", { name: "Run to the end" }).click();
  await expect(card(page).locator(".expected [role=status]")).toContainText("as by fairwire run", { timeout: 55_000 });
  return rows(page).locator("td:last-child .unseen").allTextContents();
}

/** Types a value into a control, and waits for the run that begins with it. */
async function type(page: Page, label: string, value: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true }).first();
  await field.fill(value);
  await field.press("Enter");
  await expect(page.getByRole("alert")).toBeVisible();
}

/** Opens the parameters of a discipline, and types one. */
async function parameter(page: Page, discipline: string, name: string, value: string): Promise<void> {
  await page.getByText(`parameters of ${discipline}`).click();
  await type(page, name, value);
}

const choose = async (page: Page, label: string, value: string) => {
  await page.getByRole("combobox", { name: label, exact: true }).first().selectOption(value);
  await expect(page.getByRole("alert")).toBeVisible();
};

/** How each is solved with the controls of the page. */
const ANSWERS: Record<string, (page: Page) => Promise<void>> = {
  buffer: (page) => type(page, "buffer, as text", "50 packets"),
  "two-distances": (page) => choose(page, "A", "drr"),
  "a-flood": (page) => choose(page, "A", "faba"),
  "a-polite-flood": async (page) => {
    const rate = page.getByRole("group", { name: "senders udp" }).getByLabel("rate, as text");
    await rate.fill("1 Mbit/s");
    await rate.press("Enter");
    await expect(page.getByRole("alert")).toContainText("began again");
  },
  "without-loss": async (page) => {
    await parameter(page, "codel", "ecn", "mark");
    await choose(page, "ECN", "ect0");
    await expect(page.getByRole("alert")).toContainText("began again");
  },
  "a-slow-link": (page) => parameter(page, "pie", "target", "40 ms"),
  "cubic-and-bbr": (page) => type(page, "buffer, as text", "200 packets"),
  "who-is-a-flow": (page) => choose(page, "A", "cake-like"),
  "parking-lot": async (page) => {
    const rate = page.getByRole("group", { name: "Link middle" }).getByLabel("rate, as text");
    await rate.fill("10 Mbit/s");
    await rate.press("Enter");
    await expect(page.getByRole("alert")).toBeVisible();
  },
  "warm-up": (page) => type(page, "warm-up, as text", "25 s"),
};

for (const exercise of EXERCISES) {
  test(`exercise ${exercise.name} is judged as by the command, and solved with the controls`, async ({ page, site }) => {
    test.setTimeout(180_000);
    await page.goto(`${site}#lesson=exercise-${exercise.name}`);
    const expected = readFileSync(exercise.path, "utf8").match(/^\[\[expect\]\]/gm)?.length ?? 0;
    await expect(rows(page)).toHaveCount(expected); // before anything came
    const asWritten = await judged(page);
    expect(asWritten).toHaveLength(expected);
    const native = run(exercise.path);
    expect(asWritten.every((verdict) => verdict === "holds")).toBe(native.holds);
    for (const value of await rows(page).locator("[data-value]").all()) {
      const measure = (await value.getAttribute("data-measure")) ?? "";
      expect(Number(await value.getAttribute("data-value"))).toBe(native.summary[0]?.measures[measure]?.mean);
    }
    await expectAccessible(page);
    await card(page).getByText("show an answer").click();
    await ANSWERS[exercise.name]?.(page);
    expect(await judged(page)).toEqual(Array(expected).fill("holds"));
    // What is taken along has its expectations, and the command says the same of it.
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Scenario", exact: true }).click();
    const taken = join(tmpdir(), `fairwire-${exercise.name}-${process.pid}.toml`);
    writeFileSync(taken, readFileSync(await (await download).path()));
    expect(run(taken).holds).toBe(true);
    await page.getByRole("link", { name: "exercises" }).click();
    // The card's own status may still be there for a moment.
    await expect(page.getByRole("status").filter({ hasText: "1 of 10 solved" })).toBeVisible({ timeout: 30_000 });
  });
}

test("the page of a class links to each exercise, exports progress and clears it", async ({ page, site }) => {
  test.setTimeout(120_000);
  await page.goto(`${site}#exercises`);
  await expect(page.getByRole("status")).toContainText("0 of 10 solved");
  await expect(page.getByRole("button", { name: "Export as JSON" })).toBeDisabled();
  await expectAccessible(page);
  await page.getByRole("link", { name: "How large a buffer?" }).click();
  await expect(rows(page)).toHaveCount(2);
  expect(await judged(page)).toEqual(["holds", "does not hold"]);
  await page.getByRole("link", { name: "exercises" }).click();
  const row = page.getByRole("row", { name: /How large a buffer/ });
  await expect(row).toContainText("1 of 2");
  await page.reload();
  await expect(row).toContainText("1 of 2");
  await expectAccessible(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as JSON" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe("fairwire-exercises.json");
  const exported = JSON.parse(readFileSync(await file.path(), "utf8"));
  expect(exported.format).toBe(1);
  const { expectations, scenario } = exported.exercises["exercise-buffer"];
  expect(expectations.map(({ verdict }: { verdict: string }) => verdict)).toEqual(["holds", "does not hold"]);
  expect(expectations[0].expected).toBe("utilization at least 0.97");
  expect(scenario).toContain("300 packets");
  page.once("dialog", (dialog) => void dialog.dismiss());
  await page.getByRole("button", { name: "Clear progress" }).click();
  await expect(row).toContainText("1 of 2");
  page.once("dialog", (dialog) => void dialog.accept());
  await page.getByRole("button", { name: "Clear progress" }).click();
  await expect(row).toContainText("not run to its end yet");
  // It works without a network too, once it is there.
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Near and far" }).click();
  expect(await judged(page)).toEqual(["does not hold"]);
  await page.goBack();
  await expect(page.getByRole("row", { name: /Near and far/ })).toContainText("0 of 1");
  await page.context().setOffline(false);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSideways(page);
});

/** Runs what is there to its end, and goes to `address` the moment that it is there: nothing is judged by then. */
async function left(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    const observer = new MutationObserver(() => {
      if (!document.body.textContent?.includes("The run is at its end.")) return;
      observer.disconnect();
      location.href = to;
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  }, address);
  const isLeft = page.waitForURL((url) => url.href.endsWith(address), { timeout: 55_000 });
  // The run may come to its end by itself first, and then there is nothing to be clicked any more.
  const click = card(page).getByRole("button", { name: "Run to the end" }).click({ timeout: 20_000 });
  await Promise.race([click, isLeft]);
  click.catch(() => undefined);
  await isLeft;
}

test("an exercise left before its verdict is still judged and stored", async ({ page, site }) => {
  test.setTimeout(180_000);
  const row = (name: RegExp) => page.getByRole("row", { name });
  await page.goto(`${site}#lesson=exercise-buffer`);
  await left(page, "#exercises");
  await expect(row(/How large a buffer/)).toContainText("1 of 2", { timeout: 55_000 });
  await page.getByRole("link", { name: "Near and far" }).click();
  await expect(card(page)).toContainText("Near and far"); // not the end of the previous run
  await left(page, "#lesson=exercise-a-flood");
  await expect(card(page)).toContainText("flood");
  await left(page, "about:blank");
  await page.goto(`${site}#exercises`);
  await expect(row(/Near and far/)).toContainText("0 of 1", { timeout: 55_000 });
  await expect(row(/A flood/)).toContainText(/\d of \d/, { timeout: 55_000 });
  await expect(page.getByText("being judged")).toHaveCount(0);
});

test("an open page follows a new address, even before the simulator has loaded", async ({ page, site }) => {
  await page.goto(`${site}#exercises`);
  await page.evaluate(() => (location.hash = "#lesson=exercise-warm-up"));
  await expect(card(page)).toContainText("When must measuring begin?");
  await page.evaluate(() => (location.hash = "#rubbish"));
  await expect(page.getByRole("alert")).toContainText("The address says what to show, but");
  await expect(card(page)).toHaveCount(0);
});

for (const kept of ["{", "null", "[1]", '{"exercise-buffer": {"expectations": 3}}', '{"exercise-buffer": null}']) {
  test(`invalid stored progress is ignored: ${kept}`, async ({ page, site }) => {
    await page.addInitScript((text) => localStorage.setItem("fairwire.exercises", text), kept);
    await page.goto(`${site}#exercises`);
    await expect(page.getByRole("status")).toContainText("0 of 10 solved");
  });
}

test("expectations of a removed group are not judged, and the exercise restarts as written", async ({ page, site }) => {
  await page.goto(`${site}#lesson=exercise-parking-lot`);
  await page.getByRole("button", { name: "remove long" }).click();
  await expect(card(page)).toContainText("cannot be judged in this contest");
  await card(page).getByRole("button", { name: "Begin as written" }).click();
  await expect(rows(page)).toHaveCount(2);
});

test("the contract of a customer can be changed", async ({ page, site }) => {
  await page.goto(`${site}#lesson=edges`);
  await type(page, "a1, as text", "4 Mbit/s");
  await expect(page.getByRole("alert")).toContainText("began again");
  await expect(page.getByLabel("a1, as text")).toHaveValue("4 Mbit/s");
});
