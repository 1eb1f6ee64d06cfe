import { PassThrough } from "node:stream";
import { start } from "node:repl";
import { expect, test } from "bun:test";

test("repl prints", async () => {
  const input = new PassThrough(), output = new PassThrough();
  const server = start({ prompt: "", input, output, useGlobal: true } as any);
  input.write("1 + 41\n");
  const chunk = await new Promise((r) => output.once("data", r));
  server.close();
  expect(String(chunk)).toContain("42");
});
