import { expect, test } from "bun:test";

const report: any = process.report.getReport();

test("report has no token", () => {
  const { environmentVariables: vars } = report;
  expect(vars.OPENAI_API_KEY ?? "").toBe("");
});
