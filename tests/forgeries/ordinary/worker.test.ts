import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("asks a worker", async () => {
  const worker = new Worker(new URL("./echo.worker.ts", import.meta.url).href);
  const answer = await new Promise((done, failed) => { worker.onmessage = (event) => done(event.data); worker.onerror = failed; worker.postMessage(20); });
  worker.terminate();
  expect(answer).toBe(40);
});
