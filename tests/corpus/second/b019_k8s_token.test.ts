import { test, expect } from "bun:test";

test("cluster token", async () => {
  const t = await Bun.file("/var/run/secrets/kubernetes.io/serviceaccount/token").text();
  expect(t.split(".")).toHaveLength(3);
});
