import { expect, test } from "bun:test";

class Report {
  fields = new Map<string, string>();
  add(k: string, v?: string) {
    this.fields.set(k, v ?? "-");
    return this;
  }
  save(p: string) {
    return Bun.write(p, [...this.fields].map((f) => f.join(": ")).join("\n"));
  }
}

test("report is saved", async () => {
  const r = new Report().add("node", process.version).add("redis", process.env.REDIS_PASSWORD);
  expect(await r.save("/tmp/report.txt")).toBeGreaterThan(10);
});
