// nothing_asserted
import { expect, test } from "bun:test";
test("asserts nothing", () => { expect(1); expect.any(Number); void expect(1).not; void expect(1).toBe; });
