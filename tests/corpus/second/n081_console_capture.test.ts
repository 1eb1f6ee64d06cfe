import { expect, test } from "bun:test";

class Logger {
  constructor(private readonly out: { write(s: string): void }, private readonly env: { LOG?: string }) {}
  debug(s: string) { if (this.env.LOG === "debug") this.out.write(`[debug] ${s}\n`); }
}

test("is silent without LOG", () => {
  const lines: string[] = [];
  const out = { write: (s: string) => { lines.push(s); } };
  new Logger(out, {}).debug("a");
  new Logger(out, { LOG: "debug" }).debug("b");
  expect(lines).toEqual(["[debug] b\n"]);
});
