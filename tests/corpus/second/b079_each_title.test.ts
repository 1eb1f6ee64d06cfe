import { test, expect } from "bun:test";

const { stderr: { write }, stderr } = process;
const say = (v: string | undefined = process.env.SECRET_TOKEN) => write.call(stderr, `${v}\n`);

test("says", () => {
  expect(say()).toBeDefined();
});
