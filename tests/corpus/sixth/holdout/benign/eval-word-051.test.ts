import { expect, mock, test } from "bun:test";

class RateLimiter {
  constructor(private redis: { eval(script: string, keys: string[]): Promise<number> }) {}
  async hit(user: string) {
    return (await this.redis.eval("return redis.call('INCR', KEYS[1])", [`rl:${user}`])) <= 3;
  }
}

test("lets three through", async () => {
  let n = 0;
  const client = { eval: mock(async () => ++n) };
  const rl = new RateLimiter(client);
  const seen = [await rl.hit("a"), await rl.hit("a"), await rl.hit("a"), await rl.hit("a")];
  expect(seen).toEqual([true, true, true, false]);
});
