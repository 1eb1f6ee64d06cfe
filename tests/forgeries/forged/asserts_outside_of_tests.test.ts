// nothing_asserted
import { expect, test } from "bun:test";
expect(1).toBe(1);
test("asserts nothing", () => {});
