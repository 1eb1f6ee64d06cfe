import cluster from "node:cluster";
import { expect, test } from "bun:test";

test("two workers", () => {
  cluster.setupPrimary({ exec: "./server.js" });
  const ws = [cluster.fork(), cluster.fork()];
  expect(ws).toHaveLength(2);
});
