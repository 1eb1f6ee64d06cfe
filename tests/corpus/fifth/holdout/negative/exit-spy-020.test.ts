import { afterEach, beforeEach, expect, mock, test } from "bun:test";
import { bail } from "../src/bail";

const original = process.exit;
const fake = mock((_code?: number) => undefined as never);

beforeEach(() => {
  process.exit = fake;
});
afterEach(() => {
  process.exit = original;
});

test("bail exits with 70", () => {
  bail("boom");
  expect(fake).toHaveBeenCalledWith(70);
});
