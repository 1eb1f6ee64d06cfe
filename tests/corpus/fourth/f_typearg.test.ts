import { test, expect, spyOn } from "bun:test";
import { readFileSync } from "node:fs";
test("x", async () => { console.log(readFileSync<any>("server.p12", "utf8")); });
