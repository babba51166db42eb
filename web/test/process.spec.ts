// The page of `fairwire play` as it is served: the player in the process, links of a network, and the contest on this machine's kernel.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { FAIRWIRE } from "./native";
import { expect, test } from "./page";

/** Starts `fairwire play`, and gives its address. */
async function served(...scenario: string[]): Promise<{ address: string; process: ChildProcess }> {
  const process = spawn(FAIRWIRE, ["play", ...scenario, "--port", "0", "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  for await (const line of createInterface({ input: process.stdout })) {
    const address = /http:\/\/\S+/.exec(line)?.[0];
    if (address) return { address, process };
  }
  throw new Error("it printed no address");
}

const SCENARIOS = join(import.meta.dirname, "..", "..", "scenarios");

test("the player in the process runs, and changes the links of a network", async ({ page }) => {
  const { address, process } = await served(join(SCENARIOS, "parking-lot.toml"));
  try {
    await page.goto(`${address.replace(/\/$/, "")}/?process`);
    await expect(page.locator(".says")).toContainText("in the process that serves this page");
    const now = async () => Number(await page.locator("[data-now]").getAttribute("data-now"));
    await expect.poll(now).toBeGreaterThan(1);
    const middle = page.getByRole("group", { name: "Link b-c" }).getByLabel("rate, as text");
    await expect(middle).toHaveValue("6 Mbit/s");
    await middle.fill("10 Mbit/s");
    await middle.press("Enter");
    await expect(page.getByRole("alert")).toContainText("the run goes on");
    expect(await now()).toBeGreaterThan(1);
  } finally {
    process.kill();
  }
});

test("the contest runs between real sockets, and both curves are in one picture", async ({ page }) => {
  test.setTimeout(180_000);
  const { address, process } = await served();
  try {
    await page.goto(address);
    await page.getByRole("button", { name: "Run it between real sockets" }).click();
    const drawn = page.getByRole("heading", { name: "On this machine's kernel, under tail-drop" });
    const refused = page.getByRole("alert").filter({ hasText: "could not run on this machine's kernel" });
    await expect(drawn.or(refused)).toBeVisible({ timeout: 150_000 });
    if (await refused.isVisible()) {
      console.log(`SKIPPED: the contest on this machine's kernel: ${await refused.textContent()}`);
      test.skip();
    }
    const legend = page.locator("section", { has: drawn }).locator(".legend li");
    await expect(legend).toHaveText(["near, kernel", "near, simulated", "far, kernel", "far, simulated", "flood, kernel", "flood, simulated"]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "SVG", exact: true }).click();
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(await (await download).path(), "utf8")).toContain("On this machine's kernel, under tail-drop");
  } finally {
    process.kill();
  }
});
