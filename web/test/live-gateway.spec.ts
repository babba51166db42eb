// The page of a gateway that runs, in a network namespace without any other way out. simulator/command/tests/gateway/page.rs starts it, with
// traffic, and gives the page's address in FAIRWIRE_PAGE.

import { type Page, test as base } from "@playwright/test";
import { expect, expectAccessible, expectNoSideways } from "./page";

const address = process.env["FAIRWIRE_PAGE"] ?? "";
/** Where a picture for the documents goes, if one is wanted. */
const picture = process.env["FAIRWIRE_PICTURE"] ?? "";

const test = base.extend({
  page: async ({ page }, use) => {
    const faults: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => {
      if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(address)) faults.push(request.url());
    });
    await page.goto(address);
    await expect(page.locator("#fairness")).toContainText("Download:");
    await use(page);
    expect(faults).toEqual([]);
  },
});

test.skip(address === "", "no gateway runs: simulator/command/tests/gateway/page.rs starts one");

test("the numbers of the page are the metrics of the same instant, under load", async ({ page }) => {
  const { matched, wrong } = await page.evaluate(compare);
  expect(wrong).toEqual([]);
  expect(matched).toBeGreaterThanOrEqual(3);
});

/** Reads the metrics and the page for some seconds, and compares what is of the same instant. */
async function compare(): Promise<{ matched: number; wrong: string[] }> {
  const UPTIME = "fairwire_uptime_seconds";
  const metrics = new Map<string, Map<string, number>>();
  const shown = new Map<string, [string, number][]>();
  const until = performance.now() + 6000;
  const read = () => {
    const values = [...document.querySelectorAll("data[data-metric]")].map((element): [string, number] => [
      element.getAttribute("data-metric") ?? "",
      Number((element as HTMLDataElement).value),
    ]);
    shown.set(String(values.find(([name]) => name === UPTIME)?.[1]), values);
  };
  while (performance.now() < until) {
    const text = await (await fetch("/metrics")).text();
    const values = new Map<string, number>();
    for (const line of text.split("\n")) {
      const space = line.lastIndexOf(" ");
      if (!line.startsWith("#") && space > 0) values.set(line.slice(0, space), Number(line.slice(space + 1)));
    }
    metrics.set(String(values.get(UPTIME)), values);
    read();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const wrong: string[] = [];
  let matched = 0;
  for (const [uptime, values] of shown) {
    const of = metrics.get(uptime);
    if (!of) continue;
    matched += 1;
    for (const [name, value] of values) if (of.get(name) !== value) wrong.push(`${name}: ${value}, not ${of.get(name)}`);
  }
  return { matched, wrong };
}

test("drops have a reason and a share, and can be downloaded as a capture", async ({ page }) => {
  const last = page.getByRole("region", { name: "list of the last drops" });
  await expect(last.locator("tbody tr").first()).toContainText(/dropped/);
  await expect(last.locator("tbody tr").first()).toContainText("%");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "open in Wireshark" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("fairwire.pcapng");
});

test("picked flows are drawn with their past", async ({ page }) => {
  await page.getByRole("region", { name: /^list of/ }).nth(1).getByRole("button").first().click();
  await expect(page.getByRole("heading", { name: "Picked: rate" })).toBeVisible();
  await page.getByRole("button", { name: "hour", exact: true }).click();
  await expect(page.getByText(/One value is 10 s/)).toBeVisible();
  await expect(page.getByText("the gateway began")).toBeVisible();
});

test("the last minute is replayed through another discipline, and says that senders do not react", async ({ page }) => {
  const section = page.getByRole("region", { name: "What if another discipline had been here?" });
  await expect(section).toContainText("Senders do not react");
  await section.getByRole("combobox").selectOption("tail-drop");
  await section.getByRole("button", { name: "replay the last minute" }).click();
  await expect(section.getByRole("columnheader", { name: "tail-drop, replayed" })).toBeVisible();
});

for (const width of [360, 1280]) {
  test(`it fits into ${width} pixels and is accessible, with what a real gateway shows`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await expect(page.getByRole("heading", { name: "What changed" })).toBeVisible();
    await expectNoSideways(page);
    await expectAccessible(page);
  });
}

test("a picture is taken for the documents", async ({ page }) => {
  test.skip(picture === "", "no picture is wanted");
  await page.setViewportSize({ width: 1280, height: 800 });
  await settled(page);
  await page.screenshot({ path: picture });
});

/** Waits until the moving pictures are full. */
async function settled(page: Page): Promise<void> {
  await page.waitForTimeout(11_000);
}
