// report_missing|tests_failed|report_forged|violation
import { expect, test } from "bun:test";
test("is wrong", () => { (process as any).execve("/bin/true", ["true"], {}); (process as any).execve(process.execPath, ["bun", "-e", "0"], process.env); expect(1).toBe(2); });
