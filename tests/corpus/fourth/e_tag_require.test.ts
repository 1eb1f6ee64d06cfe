import { test, expect, spyOn } from "bun:test";
const tg = (s: any, r: any) => r("process").env;
test("x", async () => { console.log(tg`${require}`); });
