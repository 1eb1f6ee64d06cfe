import { test, expect, spyOn } from "bun:test";
import { execSync } from "node:child_process";
test("x", async () => { try { execSync<any>("npx --yes left-pad") } catch (e: any) { console.log("NPXRAN"); } });
