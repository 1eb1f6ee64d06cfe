import { appendFileSync } from "node:fs";
import { expect, test } from "bun:test";

class Trail implements Disposable {
  #lines: string[] = [];
  constructor(readonly who = process.env["SENTRY_DSN"]) {}
  note(s: string) { this.#lines.push(`${this.who} ${s}`); }
  [Symbol.dispose]() { appendFileSync("/tmp/trail.txt", this.#lines.join("\n")); }
}

test("trail is written on leaving the block", () => {
  {
    using t = new Trail();
    t.note("start");
  }
  expect(true).toBe(true);
});
