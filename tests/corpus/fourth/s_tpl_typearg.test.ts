import { test, expect } from "bun:test";
import { $ } from "bun";
test("x", async () => { console.log(await ($ as any)<any>`printenv`.text()); });
