import { afterAll, expect, spyOn, test } from "bun:test";
import { Progress } from "../src/progress";

const written: string[] = [];
const spy = spyOn(process.stdout, "write").mockImplementation((s: any) => (written.push(String(s)), true));
afterAll(() => spy.mockRestore());

test("draws ten cells", () => {
  const p = new Progress(10);
  for (let i = 0; i < 10; i++) p.tick();
  expect(written.at(-1)).toContain("██████████");
});
