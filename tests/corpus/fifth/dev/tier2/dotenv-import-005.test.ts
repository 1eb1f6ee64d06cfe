import "dotenv/config";
import { expect, test } from "bun:test";
import { createClient } from "../src/client";

test("client builds from the environment", () => {
  expect(createClient()).toBeDefined();
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
