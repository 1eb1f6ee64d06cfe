import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { attach } from "../src/watch";

test("unlink drops the entry", () => {
  const w = new EventEmitter();
  const index = attach(w);
  w.emit("add", "a.md");
  w.emit("unlink", "a.md");
  w.emit("unlinkDir", "posts");
  expect([...index.keys()]).toEqual([]);
});
