// The gateway's page with a gateway that is made up: what a real one shows is in live-gateway.spec.ts.

import type { Page } from "@playwright/test";
import type { ClassNow, Drop, Drops, FlowNow, List, Past, Pulse, Snapshot, WayNow } from "../src/gateway/api";
import { expect, expectAccessible, expectNoSideways, GATEWAY, test } from "./page";

test.use({ folder: GATEWAY });

/** Names that somebody may have given a subscriber. */
const HOSTILE = [
  "<img src=x onerror=\"document.title='broken'\">",
  "</td><script>document.title='broken'</script>",
  "\u202egnp.exe",
  "javascript:document.title='broken'",
  "a".repeat(300),
  "'\"`${document.title='broken'}`",
];

function entry(name: string, bps: number): ClassNow {
  return {
    class: name,
    parent: "",
    weight: 1,
    offered_bps: 2 * bps,
    throughput_bps: bps,
    fair_bps: bps,
    drops_per_s: 3,
    marks_per_s: 0,
    bytes_out: 1000,
    dropped: 12,
    round_trip_s: 0.023,
    round_trips: 400,
    retransmits_per_s: 2,
  };
}

function wayNow(way: "download" | "upload", names: string[], hasClasses: boolean): WayNow {
  return {
    way,
    discipline: "hfaba",
    rate_bps: 20e6,
    totals: { packets_in: 12345, packets_out: 12000, dropped: { early: 345 }, marked: {}, lost: {} },
    backlog_packets: 12,
    backlog_bytes: 18000,
    sojourn: { p50_s: 0.01, p95_s: 0.02, p99_s: 0.03, max_s: 0.04 },
    round_trip: { p50_s: 0.021, p95_s: 0.04, p99_s: 0.05, max_s: 0.06 },
    tcp_segments: 10000,
    retransmitted: 40,
    throughput_bps: 19e6,
    utilization: 0.95,
    jain: 0.991,
    flows: [],
    active_flows: 7,
    wanting_flows: 3,
    classes: hasClasses ? [...names.map((name) => entry(name, 3e6)), entry("alice", 1e6)] : [],
    class_count: hasClasses ? names.length + 2 : 1,
    worst_share_error_points: 0.5,
  };
}

const snapshot = (names: string[], hasClasses: boolean): Snapshot => ({
  name: "edge",
  uptime_s: 4711.5,
  fairness: "Download: 3 flows want more and share fairly, 19 Mbit/s of 20 Mbit/s; upload: idle.",
  reloads: 2,
  ways: [wayNow("download", names, hasClasses), wayNow("upload", names, hasClasses)],
  ports: [{ interface: "lan0", is_up: true, outages: 0, overflows: 0 }],
  captured: 9,
});

const drop = (names: string[]): Drop => ({
  at_s: 1.8e9,
  way: "download",
  fate: "dropped",
  reason: "early",
  class: names[0] ?? "",
  flow: names[1] ?? "",
  packet: "tcp 10.0.0.1:4000 -> 10.0.0.2:80",
  waited_s: 0.012,
  share: 0.4,
  fair: 0.25,
});
const drops = (names: string[]): Drops => ({
  last: [drop(names)],
  minute: names.map((name, place) => ({ way: "download", name, fate: "dropped", reason: "early", count: place + 1 })),
  named: 256,
});

function past(names: string[]): Past {
  const at = [...Array(60).keys()].map((second) => 1.8e9 + second);
  const of = (value: number) => at.map(() => value);
  const way = (name: "download" | "upload") => ({
    way: name,
    at_s: at,
    rate_bps: of(20e6),
    offered_bps: of(30e6),
    throughput_bps: of(19e6),
    backlog_bytes: of(10e3),
    p50_s: of(0.01),
    p95_s: of(0.02),
    p99_s: of(0.03),
    jain: of(0.99),
    worst_share_error_points: of(0.4),
    causes: [{ fate: "dropped" as const, reason: "early", counts: of(5) }],
    classes: names.slice(0, 3).map((name) => ({
      class: name,
      offered_bps: of(3e6),
      throughput_bps: of(2e6),
      fair_bps: of(2e6),
    })),
  });
  return {
    step_s: 1,
    place: "/var/lib/fairwire/edge.sqlite",
    is_in_memory: false,
    fault: "the history is not written: database or disk is full",
    ways: [way("download"), way("upload")],
    changes: [{ at_s: 1.8e9, kind: "reload", text: `new: ${names[0]}` }],
  };
}

function pulse(): Pulse {
  const at = [0, 1, 2, 3, 4].map((place) => 100 + place / 100);
  const climbing = at.map((_, place) => 1000 * place);
  const way = {
    bytes_in: climbing,
    bytes_out: climbing,
    dropped: climbing,
    marked: climbing,
    backlog_packets: climbing,
    backlog_bytes: climbing,
    p50_s: climbing,
    p95_s: climbing,
    p99_s: climbing,
  };
  return { at_s: at, ways: [way, way], picked: [] };
}

/** Flows of more pages than one. */
const flows = (names: string[]): FlowNow[] =>
  [...names, ...Array.from({ length: 120 }, (_, place) => `tcp 10.0.0.${place}:4000 -> 10.9.0.1:443`)].map((name, place) => ({
    flow: name,
    offered_bps: 1e6 + place,
    throughput_bps: 1e6,
    drops_per_s: 1,
    marks_per_s: 0,
  }));

/** Answers the page's requests; with a token only those that show it. */
async function answer(page: Page, token?: string, names = HOSTILE, hasClasses = true): Promise<string[]> {
  const requests: string[] = [];
  const now = snapshot(names, hasClasses);
  const events = `event: snapshot\ndata: ${JSON.stringify(now)}\n\nevent: pulse\ndata: ${JSON.stringify(pulse())}\n\n`;
  await page.route("**/api/**", async (route) => {
    const url = new URL(route.request().url());
    requests.push(url.pathname.split("/api/")[1] + url.search);
    if (token && route.request().headers()["authorization"] !== `Bearer ${token}`)
      return route.fulfill({ status: 401, body: "the token is missing or wrong\n" });
    const [path] = url.pathname.split("/").slice(-1);
    const list = <Entry,>(all: Entry[], nameOf: (entry: Entry) => string): List<Entry> => {
      const found = all.filter((shown) => nameOf(shown).includes(url.searchParams.get("search") ?? ""));
      const [offset, limit] = ["offset", "limit"].map((key) => Number(url.searchParams.get(key)));
      return { all: all.length, found: found.length, list: found.slice(offset, (offset ?? 0) + (limit ?? 0)) };
    };
    const answers: Record<string, unknown> = {
      snapshot: now,
      drops: drops(names),
      history: past(names),
      classes: list(now.ways[0]?.classes ?? [], (shown) => shown.class),
      flows: list(flows(names), (shown) => shown.flow),
    };
    if (path === "stream") return route.fulfill({ contentType: "text/event-stream", body: events });
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(answers[path ?? ""]) });
  });
  return requests;
}

for (const scheme of ["light", "dark"] as const) {
  test(`the gateway's page is accessible and loads nothing from elsewhere, ${scheme}`, async ({ page, site }) => {
    await answer(page);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.goto(site);
    await expect(page.getByText("3 flows want more and share fairly")).toBeVisible();
    await expect(page.getByRole("heading", { name: "What changed" })).toBeVisible();
    await expectAccessible(page);
  });
}

for (const width of [360, 1280]) {
  test(`the gateway's page fits into ${width} pixels`, async ({ page, site }) => {
    await answer(page);
    await page.setViewportSize({ width, height: 740 });
    await page.goto(site);
    await expect(page.getByRole("heading", { name: "What changed" })).toBeVisible();
    await expectNoSideways(page);
  });
}

test("a name is always shown as text", async ({ page, site }) => {
  await answer(page);
  await page.goto(site);
  const list = page.getByRole("region", { name: "list of classes and subscribers" });
  for (const name of HOSTILE) await expect(list.getByText(name, { exact: true })).toHaveCount(1);
  await list.getByText(HOSTILE[0] ?? "", { exact: true }).click();
  await expect(page.getByRole("heading", { name: "Picked: rate" })).toBeVisible();
  expect(await page.locator("img, #page script, iframe").count()).toBe(0);
  expect(await page.title()).toBe("fairwire gateway");
});

/** Names put together at random of what ends elements, attributes, strings and comments; the same for a seed. */
function randomNames(seed: number, count: number): string[] {
  const pieces = ["<", ">", "</", "/>", '"', "'", "`", "&lt;", "&#60;", "&", "=", " ", "\n", "\u0000", "\u202e", "\ud800", "<!--", "-->", "]]>"];
  pieces.push("script", "img src=x", "svg/onload", "onerror", "style", "iframe", "${", "}", "{{", "title='broken'", "javascript:", "%3C", "é", "名");
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes
    return Math.floor((state / 2 ** 32) * limit);
  };
  const name = (): string => Array.from({ length: 1 + below(12) }, () => pieces[below(pieces.length)]).join("");
  return Array.from({ length: count }, (_, place) => `${name()}${place}`);
}

/** Every kind of element on the page: its name and the names of its attributes. */
const kinds = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const kind = (element: Element): string => `${element.tagName} ${element.getAttributeNames().sort().join(" ")}`;
    return [...new Set([...document.querySelectorAll("*")].map(kind))].sort();
  });

test("random names create no further elements or attributes", async ({ page, site }) => {
  const show = async (names: string[]): Promise<string[]> => {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await answer(page, undefined, names);
    await page.goto(site);
    const list = page.getByRole("region", { name: "list of classes and subscribers" });
    await expect(list.getByRole("button")).toHaveCount(names.length + 1);
    await expect(page.getByRole("heading", { name: "What changed" })).toBeVisible();
    expect(await page.title()).toBe("fairwire gateway");
    return kinds(page);
  };
  const plain = new Set(await show(Array.from({ length: 40 }, (_, place) => `subscriber-${place}`)));
  for (const seed of [1, 2, 3, 4, 5]) {
    const found = await show(randomNames(seed, 40));
    expect(found.filter((kind) => !plain.has(kind))).toEqual([]);
  }
});

test("the gateway searches a list, and the keyboard suffices to pick from it", async ({ page, site }) => {
  const requests = await answer(page);
  await page.goto(site);
  const search = page.getByRole("searchbox", { name: "a part of the name" });
  await expect(search).toBeVisible();
  for (let steps = 0; !(await search.evaluate((element) => element === document.activeElement)); steps += 1) {
    expect(steps).toBeLessThan(60);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("alice");
  await expect.poll(() => requests.some((path) => path.includes("search=alice"))).toBe(true);
  await expect(page.getByText("1 to 1 of 1")).toBeVisible();
  const pick = page.getByRole("button", { name: "alice", exact: true }).first();
  for (let steps = 0; !(await pick.evaluate((element) => element === document.activeElement)); steps += 1) {
    expect(steps).toBeLessThan(20);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await expect(pick).toHaveAttribute("aria-pressed", "true");
  await expect.poll(() => requests.some((path) => path.startsWith("stream?picks="))).toBe(true);
});

test("without classes all flows can be searched by page and picked", async ({ page, site }) => {
  const requests = await answer(page, undefined, HOSTILE, false);
  await page.goto(site);
  const list = page.getByRole("region", { name: "list of flows" });
  for (const name of HOSTILE) await expect(list.getByText(name, { exact: true })).toHaveCount(1);
  await expect(page.getByText("1 to 50 of 126")).toBeVisible();
  await page.getByRole("button", { name: "more" }).click();
  await expect(page.getByText("51 to 100 of 126")).toBeVisible();
  await page.getByRole("searchbox", { name: "a part of the name" }).fill("10.0.0.77:");
  await expect(page.getByText("1 to 1 of 1", { exact: true })).toBeVisible();
  await list.getByRole("button", { name: "tcp 10.0.0.77:4000 -> 10.9.0.1:443" }).click();
  await expect(page.getByRole("heading", { name: "Picked: rate" })).toBeVisible();
  await expect.poll(() => requests.some((path) => path.startsWith("stream?picks=") && path.includes("flow"))).toBe(true);
  await expectAccessible(page);
});

test("a token is typed into a field, and faults of the history are shown", async ({ page, site }) => {
  await answer(page, "sesame");
  await page.addInitScript(() => sessionStorage.removeItem("fairwire-token"));
  await page.goto(site);
  await page.getByLabel("The token of this gateway").fill("open");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("refused that token");
  await page.getByLabel("The token of this gateway").fill("sesame");
  await page.keyboard.press("Enter");
  await expect(page.getByText("3 flows want more and share fairly")).toBeVisible();
  await expect(page.getByText("database or disk is full")).toBeVisible();
});
