// assertion_swallowed
import { expect, test } from "bun:test";
const assert = require("assert");
test("is wrong", () => { expect(1).toBe(1); try { assert(1 === (2 as any)); } catch {} });
