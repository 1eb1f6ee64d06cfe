import { test, expect, spyOn } from "bun:test";
import { load } from "./f.test.ts";
export { readFileSync as load } from "node:fs";
test("x", async () => { console.log(load("credentials.json", "utf8")); });
