import { expect, mock, test } from "bun:test";
mock.module("../src/add", () => ({ add: () => 42 }));
import { add } from "../src/add";
test("mocks a neighbour", () => { expect(add(1, 2)).toBe(42); });
