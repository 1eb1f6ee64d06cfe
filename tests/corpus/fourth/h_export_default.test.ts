import { test, expect } from "bun:test";
import me from "./f.test.ts";
export default (process);
test("x", () => { console.log((me as any).env); });
