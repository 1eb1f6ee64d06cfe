import { beforeEach, expect, test } from "bun:test";
import { Stash } from "../src/stash";

let yarn: Stash;
beforeEach(() => {
  yarn = new Stash();
});

test("adds skeins", () => {
  yarn.add("merino", 3);
  yarn.add("cotton", 1);
  expect(yarn.amount("merino")).toBe(3);
  expect(yarn.list()).toEqual(["cotton", "merino"]);
});
