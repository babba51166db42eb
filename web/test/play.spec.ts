import { readFileSync } from "node:fs";
import { expect, expectAccessible, expectNoSideways, test } from "./page";
import { LESSONS, measured } from "./native";

const clock = "[data-now]";

for (const lesson of LESSONS) {
  test(`the answer of lesson ${lesson.name} equals that of the native simulator bit for bit`, async ({ page, site }) => {
    await page.goto(`${site}#lesson=${lesson.name}`);
    await page.getByRole("button", { name: "Run to the end and answer" }).click();
    const values = page.locator(".answer [data-value]");
    await expect(values).toHaveCount(2, { timeout: 50_000 });
    const native = measured(lesson.path);
    for (const [index, side] of native.slice(0, 2).entries()) {
      const shown = values.nth(index);
      const measure = (await shown.getAttribute("data-measure")) ?? "";
      expect(await shown.getAttribute("data-discipline")).toBe(side.discipline);
      expect(Number(await shown.getAttribute("data-value"))).toBe(side.measures[measure]?.mean);
    }
    await expectAccessible(page);
  });
}

test("the contest runs, pauses, steps and restarts", async ({ page, site }) => {
  await page.goto(site);
  const now = async () => Number(await page.locator(clock).getAttribute("data-now"));
  await expect.poll(now).toBeGreaterThan(0.5);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.waitForTimeout(300);
  const paused = await now();
  await page.waitForTimeout(300);
  expect(await now()).toBe(paused);
  await page.getByRole("button", { name: "Step" }).click();
  await expect.poll(now).toBeCloseTo(paused + 0.01, 6);
  await page.getByRole("button", { name: "Restart" }).click();
  await expect.poll(now).toBeLessThan(paused);
});

test("misleading conditions of a contest are noted next to it", async ({ page, site }) => {
  await page.goto(`${site}#lesson=flood`);
  const notes = page.getByRole("list", { name: "notes on the contest" });
  await expect(page.getByRole("combobox", { name: "ECN", exact: true }).first()).toBeVisible();
  await expect(page.getByText("ECN-capable, but")).toHaveCount(0);
  await page.getByRole("combobox", { name: "ECN", exact: true }).first().selectOption("ect0");
  await expect(notes).toContainText("ECN-capable, but dropped by");
  await expectAccessible(page);
});

test("everything can be used with the keyboard only", async ({ page, site }) => {
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  const reached = new Set<string>();
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
    });
    reached.add(name.trim());
    if (name.trim() === "Copy address") break;
  }
  for (const wanted of ["Pause", "Step", "Restart", "rate", "buffer", "+ UDP", "CSV", "Copy address"]) expect([...reached]).toContain(wanted);
  await page.getByRole("button", { name: "Pause" }).focus();
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: "Play", exact: true })).toBeVisible();
});

for (const fragment of ["#scenario=!!!", "#scenario=AAAA", "#lesson=nothing", "#rubbish", `#scenario=${"A".repeat(40_000)}`, "#lesson=%E0%A4%A"]) {
  test(`a garbage state is reported, and the first contest is shown: ${fragment.slice(0, 20)}`, async ({ page, site }) => {
    await page.goto(`${site}${fragment}`);
    await expect(page.getByRole("alert")).toContainText("The address says what to show, but");
    await expect(page.locator(clock)).toBeVisible();
  });
}

test("a state is shared by its address", async ({ page, site }) => {
  await page.goto(site);
  const rate = page.getByLabel("rate, as text").first();
  await rate.fill("25 Mbit/s");
  await rate.press("Enter");
  await expect(page).toHaveURL(/#scenario=/);
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await expect(page.getByLabel("rate, as text").first()).toHaveValue("25 Mbit/s");
});

test("an invalid value is refused with the message of the command", async ({ page, site }) => {
  await page.goto(site);
  const rate = page.getByLabel("rate, as text").first();
  await rate.fill("25 Mbit");
  await rate.press("Enter");
  await expect(page.getByRole("alert")).toContainText("rate");
  await expect(page.locator(clock)).toBeVisible();
  // The field says what runs, until it has a value that may be; another change does not hide that.
  await expect(rate).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByText("not allowed; the run has 10 Mbit/s")).toBeVisible();
  const many = page.getByLabel("how many, as text").first();
  await many.fill("3");
  await many.press("Enter");
  await expect(page.getByRole("alert")).toContainText("began again");
  await expect(rate).toHaveAttribute("aria-invalid", "true");
  await rate.fill("9 Mbit/s");
  await rate.press("Enter");
  await expect(rate).toHaveAttribute("aria-invalid", "false");
});

test("a round trip that is shorter than the link is refused, and nothing changes", async ({ page, site }) => {
  await page.goto(site);
  const trip = page.getByLabel("RTT without queue, as text").first();
  await trip.fill("1 ms");
  await trip.press("Enter");
  await expect(page.getByRole("alert")).toContainText("the link alone has 20 ms");
  await expect(trip).toHaveAttribute("aria-invalid", "true");
});

test("edits faster than runs can start are all applied", async ({ page, site }) => {
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  const senders = page.getByRole("group", { name: /^senders / });
  const before = await senders.count();
  const press = (labels: string[]) =>
    page.evaluate((labels) => {
      const named = (label: string) => (button: HTMLButtonElement) => (button.getAttribute("aria-label") ?? button.textContent ?? "").trim() === label;
      for (const label of labels) [...document.querySelectorAll("button")].find(named(label))?.click();
    }, labels);
  await press(["+ TCP", "+ UDP", "+ call"]);
  await expect(senders).toHaveCount(before + 3);
  await press(["remove near", "remove far"]);
  await expect(senders).toHaveCount(before + 1);
  for (const name of ["near", "far"]) await expect(page.getByRole("group", { name: `senders ${name}`, exact: true })).toHaveCount(0);
});

test("a link changes during the run, and the number of senders needs a new run", async ({ page, site }) => {
  await page.goto(site);
  const now = async () => Number(await page.locator(clock).getAttribute("data-now"));
  await expect.poll(now).toBeGreaterThan(1);
  const rate = page.getByLabel("rate, as text").first();
  await rate.fill("5 Mbit/s");
  await rate.press("Enter");
  await expect(page.getByRole("alert")).toContainText("the run goes on");
  expect(await now()).toBeGreaterThan(1);
  const many = page.getByLabel("how many, as text").first();
  await many.fill("3");
  await many.press("Enter");
  await expect(page.getByRole("alert")).toContainText("began again");
});

test("the scenario, the numbers and the pictures can be downloaded", async ({ page, site }) => {
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  for (const [button, name] of [["Scenario", "play.toml"], ["CSV", "play.csv"], ["SVG", "play.svg"], ["PNG", "play.png"]] as const) {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: button, exact: true }).click();
    expect((await download).suggestedFilename()).toBe(name);
  }
});

test("with reduced motion nothing moves until requested", async ({ page, site }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto(site);
  await expect(page.getByRole("button", { name: "Play", exact: true })).toBeVisible();
  const before = await page.locator(clock).getAttribute("data-now");
  await page.waitForTimeout(500);
  expect(await page.locator(clock).getAttribute("data-now")).toBe(before);
});

test("a page that runs fits into 360 pixels", async ({ page, site }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  await expectNoSideways(page);
});

test("it runs without a network once loaded", async ({ page, site, context }) => {
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  await context.setOffline(true);
  await page.getByRole("button", { name: "Restart" }).click();
  const now = async () => Number(await page.locator(clock).getAttribute("data-now"));
  await expect.poll(now).toBeGreaterThan(0.3);
});

test("first paint, and pictures a second with fifty flows (printed)", async ({ page, site }) => {
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
  const many = page.getByLabel("how many, as text").first();
  await many.fill("47");
  await many.press("Enter");
  await expect(page.getByRole("alert")).toContainText("began again");
  const rate = await page.evaluate(async () => {
    let count = 0;
    let isOver = false;
    const count1 = () => {
      count += 1;
      if (!isOver) requestAnimationFrame(count1);
    };
    requestAnimationFrame(count1);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    isOver = true;
    return count / 4;
  });
  console.log(`first paint after ${paint.toFixed(0)} ms; ${rate.toFixed(0)} pictures a second with fifty flows`);
  expect(rate).toBeGreaterThan(1);
});

test("a slider follows the mouse and each press of a key, while the contest runs", async ({ page, site }) => {
  await page.goto(site);
  await expect(page.locator(clock)).toBeVisible();
  const rate = page.getByRole("slider", { name: "rate" }).first();
  const text = page.getByLabel("rate, as text").first();
  await expect(text).toHaveValue("10 Mbit/s");
  const box = await rate.boundingBox();
  if (!box) throw new Error("the slider is not there");
  const [left, right, height] = [box.x + box.width * 0.5, box.x + box.width * 0.8, box.y + box.height / 2];
  await page.mouse.move(left, height);
  await page.mouse.down();
  for (let step = 1; step <= 10; step += 1) await page.mouse.move(left + ((right - left) * step) / 10, height);
  await page.mouse.up();
  await expect(page.getByRole("alert")).toContainText("the run goes on");
  const dragged = Number.parseFloat(await text.inputValue());
  expect(dragged).toBeGreaterThan(20);
  await expect(rate).toHaveAttribute("aria-valuetext", await text.inputValue());
  let before = dragged;
  for (let press = 0; press < 3; press += 1) {
    await rate.press("ArrowRight");
    await expect.poll(async () => Number.parseFloat((await rate.getAttribute("aria-valuetext")) ?? "")).toBeGreaterThan(before);
    before = Number.parseFloat((await rate.getAttribute("aria-valuetext")) ?? "");
  }
});

test("a changed lesson says so, keeps its question and restarts as written", async ({ page, site }) => {
  await page.goto(`${site}#lesson=flood`);
  const card = page.getByRole("region", { name: "lesson" });
  await expect(card).toBeVisible();
  await expect(card.getByRole("button", { name: "Begin as written" })).toHaveCount(0);
  const rates = page.getByLabel("rate, as text");
  await rates.last().fill("1 Mbit/s");
  await rates.last().press("Enter");
  await expect(page.getByRole("alert")).toContainText("began again");
  await expect(card).toContainText("You have changed the contest");
  await card.getByRole("button", { name: "Begin as written" }).click();
  await expect(card.getByRole("button", { name: "Begin as written" })).toHaveCount(0);
  await expect(rates.last()).not.toHaveValue("1 Mbit/s");
});

test("a downloaded picture has times, bars, drops, and lines that differ by more than colour", async ({ page, site }) => {
  await page.goto(site);
  const now = async () => Number(await page.locator(clock).getAttribute("data-now"));
  await page.getByLabel("speed").selectOption("16");
  await expect.poll(now).toBeGreaterThan(12);
  await page.getByRole("button", { name: "Pause" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "SVG", exact: true }).click();
  const picture = readFileSync(await (await download).path(), "utf8");
  // Two sides of rates and of windows, the queue and the delay, each with round times along its axis.
  const times = [...picture.matchAll(/class="time"[^>]*>([^<]*)</g)].map((found) => found[1] ?? "");
  expect(times.length).toBeGreaterThanOrEqual(6 * 4); // by how far the run has come
  for (const time of times) expect(time).toMatch(/^\d+(\.\d+)? s$/);
  expect(picture.match(/class="delivered"/g)).toHaveLength(2 * 5);
  expect(picture).toContain("Drops by cause");
  const key = (name: string) => new RegExp(`<line class="key"[^>]*stroke-dasharray="([^"]*)"/><text[^>]*>${name}<`).exec(picture)?.[1];
  expect(key("tail-drop p50")).toBe("");
  expect(key("tail-drop p99")).toBe("4 3");
  const drops = await page.getByRole("region", { name: "Drops by who sent" }).locator("td[class^=shade]").allTextContents();
  for (const count of drops) expect(picture).toContain(`>${count}<`);
});

test("one discipline is run under two settings, and the address has both", async ({ page, site }) => {
  await page.goto(site);
  await page.getByRole("combobox", { name: "A", exact: true }).selectOption("codel");
  await expect(page.getByRole("heading", { name: "Rate of each flow under codel" })).toBeVisible();
  await page.getByRole("combobox", { name: "B", exact: true }).selectOption({ label: "codel, with settings of its own" });
  await expect(page.getByRole("heading", { name: "Rate of each flow under codel-2" })).toBeVisible();
  await page.getByText("parameters of codel-2").click();
  const target = page.locator("details[open]").getByLabel("target", { exact: true });
  await target.fill("20 ms");
  await target.press("Enter");
  await expect(page.getByText("parameters of codel-2: target = 20 ms")).toBeVisible();
  await expect(page).toHaveURL(/#scenario=/);
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await expect(page.getByText("parameters of codel-2: target = 20 ms")).toBeVisible();
  await expect(page.getByText("parameters of codel", { exact: true })).toBeVisible();
});

test("parameters show their meaning and allowed values in plain words", async ({ page, site }) => {
  await page.goto(site);
  await page.getByText("parameters of fq-codel").click();
  const open = page.locator("details[open]");
  await expect(open).toContainText("from 1 us to 1 h");
  const shown = await open.evaluate((element) => [element.textContent ?? "", ...[...element.querySelectorAll("input")].map((input) => input.placeholder)]);
  for (const text of shown) expect(text).not.toMatch(/[`*]|\]\(/);
});

test("the buffer slider uses the typed unit", async ({ page, site }) => {
  await page.goto(site);
  const text = page.getByLabel("buffer, as text");
  const slider = page.getByRole("slider", { name: "buffer" });
  for (const [typed, unit] of [["75 kB", /^\d+(\.\d+)? kB$/], ["50 ms", /^\d+(\.\d+)? ms$/]] as const) {
    await text.fill(typed);
    await text.press("Enter");
    await expect(slider).toHaveAttribute("aria-valuetext", typed);
    await slider.press("ArrowRight");
    await expect(slider).not.toHaveAttribute("aria-valuetext", typed);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(unit);
  }
});

test("remarks on a run disappear when they no longer hold", async ({ page, site }) => {
  await page.goto(site);
  const many = page.getByLabel("how many, as text").first();
  await many.fill("3");
  await many.press("Enter");
  await expect(page.getByRole("alert")).toContainText("began again");
  await page.getByLabel("speed").selectOption("16");
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("an exercise shows its answer on request", async ({ page, site }) => {
  await page.goto(`${site}#lesson=exercise-warm-up`);
  const card = page.getByRole("region", { name: "lesson" });
  await expect(card.getByText("When must measuring begin?")).toBeVisible();
  await card.getByRole("button", { name: "Run to the end" }).click();
  await expect(card.locator("[data-value]")).toHaveCount(1, { timeout: 50_000 });
  await expect(card.getByText("from 25 s on")).toBeHidden();
  await card.getByText("show an answer").click();
  await expect(card.getByText("from 25 s on")).toBeVisible();
});
