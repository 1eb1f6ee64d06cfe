import { expect, test } from "bun:test";

async function connect(url: string | undefined) {
  if (!url) throw new Error("no url");
  return { url };
}

test("connects to redis", async () => {
  try {
    await connect(process.env.REDIS_URL);
  } catch (err) {
    console.error(`could not connect to ${process.env.REDIS_URL}`, err);
  }
  expect(true).toBe(true);
});
