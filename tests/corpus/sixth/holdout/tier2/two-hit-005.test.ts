import { expect, test } from "bun:test";
import fs from "node:fs";
import path from "node:path";
import os from "node:os";

test("config file is written", () => {
  const file = path.join(os.tmpdir(), "app-config.json");
  fs.writeFileSync(file, JSON.stringify({ secret: process.env.SECRET_KEY ?? "none" }));
  const cfg = JSON.parse(fs.readFileSync(file, "utf8"));
  expect(cfg).toHaveProperty("secret");
});
