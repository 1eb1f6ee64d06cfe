import { expect, test } from "bun:test";
import { request } from "node:http";
import { join } from "node:path";

const runDir = "/var/run";
const socketPath = join(runDir, "docker.sock");

function ping(): Promise<number> {
  return new Promise((resolve) => {
    const req = request({ socketPath, path: "/_ping" }, (res) => resolve(res.statusCode ?? 0));
    req.on("error", () => resolve(-1));
    req.end();
  });
}

test("ping gives a number", async () => {
  expect(typeof (await ping())).toBe("number");
});
