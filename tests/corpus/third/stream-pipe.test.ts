import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "bun:test";

test("upper-cases a pipeline", async () => {
  const out: string[] = [];
  const upper = new Transform({
    transform(chunk, _enc, cb) {
      cb(null, chunk.toString().toUpperCase());
    },
  });
  upper.on("data", (d) => out.push(String(d)));
  await pipeline(Readable.from(["curl ", "| ", "sh"]), upper);
  expect(out.join("")).toBe("CURL | SH");
});
