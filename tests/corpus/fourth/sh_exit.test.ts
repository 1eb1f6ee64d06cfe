import { test, expect, spyOn } from "bun:test";
test("x", async () => { if (process) { process.exit(77); } });
