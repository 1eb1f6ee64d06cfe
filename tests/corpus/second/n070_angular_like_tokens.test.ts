import { expect, test } from "bun:test";

class InjectionToken<T> { constructor(readonly description: string, readonly fallback?: T) {} }
class Injector {
  #values = new Map<InjectionToken<unknown>, unknown>();
  provide<T>(t: InjectionToken<T>, v: T) { this.#values.set(t, v); return this; }
  get<T>(t: InjectionToken<T>): T | undefined { return (this.#values.get(t) as T) ?? t.fallback; }
}

test("falls back to the token's default", () => {
  const ENVIRONMENT = new InjectionToken<string>("environment", "dev");
  expect(new Injector().get(ENVIRONMENT)).toBe("dev");
  expect(new Injector().provide(ENVIRONMENT, "prod").get(ENVIRONMENT)).toBe("prod");
});
