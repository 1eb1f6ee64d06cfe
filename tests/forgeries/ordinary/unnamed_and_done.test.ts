import { beforeAll, expect, test } from "bun:test";
beforeAll((async (done: () => void) => { setTimeout(done, 5); }) as any);
(test as any)(() => { expect(1).toBe(1); });
test("ends with the promise", async (done) => { done(); await Bun.sleep(5); expect(1).toBe(1); });
test("ends with done", (done) => { setTimeout(() => { expect(1).toBe(1); done(); }, 5); });
test("is done at once", (done) => { done(); expect(1).toBe(1); });
expect.extend({ toBeEven(n: number) { return { pass: n % 2 === 0, message: () => `${n} is odd` }; } });
test("asks both matchers", () => {
  expect.assertions(4);
  expect(2).toBeEven();
  expect(3).not.toBeEven();
  expect(() => expect(3).toBeEven()).toThrow("3 is odd");
});
