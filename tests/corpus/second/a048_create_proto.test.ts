import { test, expect } from "bun:test";

const fake = Object.create(process, { title: { value: "fake" } });

test("inherits from the runtime", () => {
  const { title, ...rest } = fake;
  const inherited = fake.env;
  console.log(inherited, rest);
  expect(title).toBe("fake");
});
