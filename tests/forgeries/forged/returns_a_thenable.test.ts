// nothing_asserted|report_forged
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); return { then(_yes: any, no: any) { no(new Error("never asked")); } } as any; });
