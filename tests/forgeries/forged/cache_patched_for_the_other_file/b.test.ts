import { expect, test } from "bun:test";
import { answer } from "./big";
test("is wrong", () => { expect(answer).toBe(5); });
