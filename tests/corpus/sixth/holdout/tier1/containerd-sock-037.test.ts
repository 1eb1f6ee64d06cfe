import { expect, test } from "bun:test";
import { connect } from "node:net";

const base = "/run";
const engine = { name: "containerd", kind: "sock" };

function probe(): Promise<boolean> {
  return new Promise((resolve) => {
    const s = connect({ path: `${base}/${engine.name}/containerd.${"sock"}` });
    s.on("connect", () => { s.end(); resolve(true); });
    s.on("error", () => resolve(false));
  });
}

test("probe resolves", async () => {
  expect([true, false]).toContain(await probe());
});
