import { test, expect } from "bun:test";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

test("pipes", async () => {
  const src = Readable.from([process.env.SECRET_TOKEN ?? ""]);
  await pipeline(src, createWriteStream("pipe.out"));
  expect(src.readableEnded).toBe(true);
});
