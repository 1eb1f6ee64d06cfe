import { afterAll, expect, test } from "bun:test";
import * as fs from "node:fs";

const actions = new Map(["mkdir", "rm", "exists"].map((v) => [v[0], fs[`${v}Sync` as keyof typeof fs] as Function]));

afterAll(() => actions.get("r")!("/tmp/e2e-out", { recursive: true, force: true }));

test("folder exists", () => {
  actions.get("m")!("/tmp/e2e-out", { recursive: true });
  expect(actions.get("e")!("/tmp/e2e-out")).toBe(true);
});
