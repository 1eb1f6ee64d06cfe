import { expect, test } from "bun:test";

function observe<T extends object>(o: T, log: string[]) {
  return new Proxy(o, {
    get: (t, k, r) => { log.push(`get ${String(k)}`); return Reflect.get(t, k, r); },
    set: (t, k, v, r) => { log.push(`set ${String(k)}`); return Reflect.set(t, k, v, r); },
  });
}

test("records accesses", () => {
  const log: string[] = [];
  const o = observe({ env: "dev" }, log);
  o.env = o.env + "2";
  expect(log).toEqual(["get env", "set env"]);
});
