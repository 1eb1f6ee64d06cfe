import { expect, test } from "bun:test";
import { workflow } from "../src/workflow";

test("job has env and steps", () => {
  const wf = workflow({ name: "ci", env: { FORCE_COLOR: "1" }, steps: ["bun test", "bun run lint"] });
  expect(Object.keys(wf.jobs.ci.env)).toEqual(["FORCE_COLOR"]);
  expect(wf.jobs.ci.steps.at(-1)).toEqual({ run: "bun run lint" });
  expect(JSON.stringify(wf.jobs.ci.env)).toBe('{"FORCE_COLOR":"1"}');
});
