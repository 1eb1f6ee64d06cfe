// violation
import { expect, test } from "bun:test";
import fs from "node:fs";
test("is wrong", async () => { const d = "sandbox/" + "d/".repeat(40); fs.mkdirSync(d, { recursive: true }); fs.writeFileSync(d + "package.json", "{}"); expect(1).toBe(1); });
