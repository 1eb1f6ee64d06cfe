import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";
import { expect, test } from "bun:test";

test("wasm tool runs", async () => {
  const wasi = new WASI({ version: "preview1", args: ["tool"], preopens: { "/": "/" } });
  const mod = await WebAssembly.compile(readFileSync("./fixtures/tool.wasm"));
  const inst = await WebAssembly.instantiate(mod, wasi.getImportObject());
  expect(wasi.start(inst)).toBe(0);
});
