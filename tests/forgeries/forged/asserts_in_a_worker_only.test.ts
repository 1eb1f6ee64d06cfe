// nothing_asserted
import { test } from "bun:test";
import { Worker } from "node:worker_threads";
test("is wrong", async () => { const worker = new Worker("require('node:assert').equal(1, 2)", { eval: true }); worker.on("error", () => {}); await new Promise((go) => worker.on("exit", go)); });
