// The colours of series for eyes that see fewer colours, read off what Chromium renders for them.

import { expect, test } from "./page";

const KINDS = ["none", "protanopia", "deuteranopia", "tritanopia"] as const;
/** Lines of other colours than these have other dashes too. */
const SERIES = 9;
/**
 * The least difference of two colours in CIELAB (CIE 1976). Of large patches one just sees 2.3 (Mahy, Van Eycken and Oosterlinck 1994); a
 * line is thin, and its colour is compared with a key elsewhere, so four times that is wanted.
 */
const LEAST = 9.2;

type Triple = [number, number, number];

/** CIELAB of a colour of sRGB, under D65. */
function lab([red, green, blue]: Triple): Triple {
  const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = [red, green, blue].map((value) => linear(value / 255)) as Triple;
  const bend = (value: number) => (value > 216 / 24389 ? Math.cbrt(value) : (24389 / 27 * value + 16) / 116);
  const x = bend((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = bend(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = bend((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (a: Triple, b: Triple) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

for (const scheme of ["light", "dark"] as const) {
  test(`any two colours of series differ for any colour vision, ${scheme}`, async ({ page, site }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(site);
    // Patches in the colours of the style sheet, which is all that a line has of them.
    await page.evaluate((count) => {
      const patches = Array.from({ length: count }, (_, index) => {
        const patch = document.createElement("i");
        patch.style.cssText = `position:fixed;z-index:9;left:${index * 20}px;top:0;width:20px;height:20px;background:var(--series-${index})`;
        return patch;
      });
      document.body.append(...patches);
    }, SERIES);
    const devtools = await page.context().newCDPSession(page);
    for (const kind of KINDS) {
      await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: kind });
      const shot = await page.screenshot({ clip: { x: 0, y: 0, width: 20 * SERIES, height: 20 } });
      await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
      const colours = await page.evaluate(
        async ({ picture, count }) => {
          const image = new Image();
          image.src = `data:image/png;base64,${picture}`;
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = canvas.getContext("2d");
          context?.drawImage(image, 0, 0);
          const at = (index: number) => [...(context?.getImageData(index * 20 + 10, 10, 1, 1).data ?? [])].slice(0, 3);
          return Array.from({ length: count }, (_, index) => at(index));
        },
        { picture: shot.toString("base64"), count: SERIES },
      );
      const seen = colours.map((colour) => lab(colour as Triple));
      const pairs = seen.flatMap((one, a) => seen.slice(a + 1).map((other, index) => ({ pair: `${a} and ${a + 1 + index}`, apart: distance(one, other) })));
      const nearest = pairs.reduce((least, each) => (each.apart < least.apart ? each : least));
      console.log(`${scheme}, ${kind}: the nearest are ${nearest.pair}, ${nearest.apart.toFixed(1)} apart`);
      expect(nearest.apart, `${kind}: series ${nearest.pair}`).toBeGreaterThan(LEAST);
    }
  });
}
