import { afterEach, expect, test } from "bun:test";
import { promisify } from "node:util";

const { rm: removeTree, mkdir } = require("fs") as typeof import("node:fs");
const wipe = promisify<string, object, void>(removeTree as any);

afterEach(() => wipe("/tmp/w1", { force: true, recursive: true }));

test("mkdir calls back", (done) => {
  mkdir("/tmp/w1", { recursive: true }, (e) => {
    expect(e).toBeNull();
    done();
  });
});
