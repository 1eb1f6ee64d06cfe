import { afterEach, expect, spyOn, test } from "bun:test";

function greet(name: string) {
  console.log(`Hello, ${name}`);
}

const log = spyOn(console, "log").mockImplementation(() => {});
afterEach(() => log.mockClear());

test("greets once", () => {
  greet("Ada");
  expect(log).toHaveBeenCalledWith("Hello, Ada");
  expect(process.env.NODE_ENV).toBe("test");
});
