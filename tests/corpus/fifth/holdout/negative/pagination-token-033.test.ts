import { expect, mock, test } from "bun:test";
import { paginate } from "../src/paginate";
import { TokenBucket } from "../src/token-bucket";

test("follows nextToken", async () => {
  const page = mock(async (token?: string) => ({ items: [token ?? "first"], nextToken: token ? undefined : "t2" }));
  expect(await Array.fromAsync(paginate(page))).toEqual(["first", "t2"]);
});

test("bucket refills", () => {
  const b = new TokenBucket({ size: 2, perSecond: 1 });
  expect([b.take(), b.take(), b.take()]).toEqual([true, true, false]);
});
