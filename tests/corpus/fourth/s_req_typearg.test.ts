import { test, expect } from "bun:test";
test("x", () => { const p = (require as any)<any>("process"); console.log(p.env); });
