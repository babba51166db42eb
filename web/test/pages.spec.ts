import { expect, expectAccessible, expectNoSideways, test } from "./page";

// The gateway's page needs a gateway: gateway.spec.ts gives it one.
for (const scheme of ["light", "dark"] as const) {
  test(`the playground is accessible and loads nothing from elsewhere, ${scheme}`, async ({ page, site }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(site);
    await expect(page.locator("h1")).toBeVisible();
    await expectAccessible(page);
  });
}

test("the playground fits into 360 pixels", async ({ page, site }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(site);
  await expect(page.locator("h1")).toBeVisible();
  await expectNoSideways(page);
});
