import { expect, test } from "bun:test";
import { env as ambient } from "node:process";

const names = (o: object) => Object.keys(o).sort();

test("variables are upper case", () => {
  for (const n of names(ambient)) {
    expect(n).toBe(n.toUpperCase());
    expect(typeof ambient[n]).toBe("string");
  }
});
