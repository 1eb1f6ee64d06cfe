// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
test("is wrong", () => { expect(1).toBe(1); const wk = new Worker("setTimeout(() => require('worker_threads').parentPort.postMessage(1), 40)", { eval: true }); wk.on("message", () => expect(1).toBe(2)); });
