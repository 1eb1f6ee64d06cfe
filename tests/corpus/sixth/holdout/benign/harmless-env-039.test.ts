import { expect, test } from "bun:test";

const reporter = process.env.CI ? "dots" : "pretty";

function report(ok: boolean) {
  process.stdout.write(reporter === "dots" ? "." : ok ? "ok\n" : "fail\n");
  return ok;
}

test("report gives back the state", () => {
  expect(report(true)).toBe(true);
});
test("reporter has a name", () => {
  expect(["dots", "pretty"]).toContain(reporter);
});
