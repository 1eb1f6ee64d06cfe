import { expect, test } from "bun:test";

let held: any;

test("ambient record is not null", () => {
  if ((0, (held = (1, process) /* config */ . /* .cwd() */
    // the next line is a member
    env))) {
    expect(Object.keys(held)).not.toEqual([]);
  }
  const { length } = Object.keys((void 0, held));
  expect(`${held && length}`).toMatch(/^\d+$/);
});
