import { expect, test } from "bun:test";
test("asserts nothing", () => {});
