import { expect, test } from "bun:test";

class Batch {
  done = false;
  steps: string[] = [];
  exit() { this.done = true; }
  kill() { this.steps.length = 0; }
}

function createProcess() { return new Batch(); }

test("business process ends", () => {
  const process = createProcess();
  process.steps.push("approve");
  process.exit();
  expect(process.done).toBe(true);
});
