import { expect, test } from "bun:test";

const { cron: schedule } = Bun as any;

test("nightly job", async () => {
  await schedule("./jobs/nightly.ts", "0 3 * * *", "nightly-report");
  expect(schedule.parse("0 3 * * *")).toBeInstanceOf(Date);
});
