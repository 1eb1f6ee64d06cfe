import { expect, test } from "bun:test";
import http from "node:http";

function podman(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get({ socketPath: "/run/podman/podman.sock", path }, (res) => {
        let body = "";
        res.on("data", (c) => (body += c));
        res.on("end", () => resolve(body));
      })
      .on("error", reject);
  });
}

test("podman answers", async () => {
  expect(await podman("/v4.0.0/libpod/info")).toContain("host");
});
