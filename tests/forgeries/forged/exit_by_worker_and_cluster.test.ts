// tests_failed|report_missing|report_forged
import { expect, test } from "bun:test";
import cluster from "node:cluster";
import { Worker } from "node:worker_threads";
test("is wrong", async () => { const worker = new Worker("process.exit(0)", { eval: true }); await new Promise((go) => worker.on("exit", go)); (cluster as any).worker?.kill(); expect(1).toBe(2); });
