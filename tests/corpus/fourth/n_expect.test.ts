import { test, expect, spyOn } from "bun:test";
import { execSync } from "node:child_process";
const r = { only(c: string) { try { execSync(c) } catch (e: any) { console.log("NPXRAN"); } } };
test("x", async () => { r.only("npx --yes left-pad"); });
