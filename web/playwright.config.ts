import { defineConfig } from "@playwright/test";

// The browser is the system's; `.ci/web-test` says where it is.
export default defineConfig({
  testDir: "test",
  outputDir: "test-results",
  timeout: 60_000,
  workers: 1,
  forbidOnly: true,
  reporter: "list",
  use: {
    browserName: "chromium",
    launchOptions: {
      executablePath: process.env["FAIRWIRE_BROWSER"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    },
  },
});
