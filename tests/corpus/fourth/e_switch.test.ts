import { test, expect, spyOn } from "bun:test";
test("x", async () => { switch (process) { default: console.log(process.env); } });
