// Serves the built pages from memory below a path of one's own, as a static site would, with a policy of content as strict as the product's.

import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".toml": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; img-src 'self' blob: data:";

export interface Site {
  /** The address of the folder, with a slash at its end. */
  address: string;
  close: () => Promise<void>;
}

/** `folder` below `/some/path/`: nothing in a page may need to be at the root. */
export async function serve(folder: string): Promise<Site> {
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const inside = path.startsWith("/some/path/") ? normalize(path.slice("/some/path/".length) || "index.html") : "";
    readFile(join(folder, inside)).then(
      (bytes) => {
        response.writeHead(200, {
          "content-type": TYPES[extname(inside)] ?? "application/octet-stream",
          "content-security-policy": POLICY,
        });
        response.end(bytes);
      },
      () => response.writeHead(404).end("not found"),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/some/path/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections(); // a browser may keep one open for as long as it likes
      }),
  };
}
