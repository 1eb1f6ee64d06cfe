import { test, expect, spyOn } from "bun:test";
import { execSync } from "node:child_process";
test.each(["npx --yes left-pad"])("%s", (c) => { try { execSync(c) } catch (e: any) { console.log(String(e.stderr).includes("not found") ? "NPXRAN" : "NPXRAN " + e); } });
