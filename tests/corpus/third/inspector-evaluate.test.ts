import { Session } from "node:inspector";
import { expect, test } from "bun:test";

test("expression through the protocol", (done) => {
  const s = new Session();
  s.connect();
  s.post("Runtime.evaluate", { expression: "6 * 7" }, (_e, r) => {
    expect(r.result.value).toBe(42);
    done();
  });
});
