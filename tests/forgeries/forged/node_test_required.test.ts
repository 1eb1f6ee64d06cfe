// violation|tests_failed
import { expect, test } from "bun:test";
const nt = require("node:test");
test("x", () => expect(1).toBe(1));
nt("a", (t: any) => { t.todo(); throw new Error("broken"); });
