import { expect, test } from "bun:test";

test("in-cluster configuration", async () => {
  const token = await Bun.file("/var/run/secrets/kubernetes.io/serviceaccount/token").text();
  const [, payload] = token.split(".");
  expect(JSON.parse(atob(payload)).iss).toBeString();
});

test("bad JSON throws", () => {
  expect(() => JSON.parse("{")).toThrow(SyntaxError);
});
