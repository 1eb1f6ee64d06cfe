import { test, expect, spyOn } from "bun:test";
import me from "./f.test.ts";
export default (Bun);
test("x", async () => { const b: any = me; console.log(b.env); });
