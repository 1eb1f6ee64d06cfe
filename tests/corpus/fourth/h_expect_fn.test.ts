import { test, expect } from "bun:test";
class K { equal(p: any) { return p.env; } }
test("x", () => { console.log(new K().equal(process)); });
