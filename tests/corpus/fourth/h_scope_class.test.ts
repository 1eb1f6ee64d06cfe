import { test, expect, spyOn } from "bun:test";
function a() { const process: any = { env: 1 }; return [1].map((process: any) => process); }
test("x", () => { a(); console.log(Object.keys(process.env).length, JSON.stringify(process.env)); });
