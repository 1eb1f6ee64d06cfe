// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("is wrong", async () => {
  await new Promise((done, failed) => {
    const worker = new Worker("data:text/javascript,throw new Error(1)");
    worker.onerror = failed;
    worker.onmessage = done;
  });
});
