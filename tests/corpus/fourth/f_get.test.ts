import { test, expect, spyOn } from "bun:test";
import { readFileSync } from "node:fs";
class Store { get(p: string) { return readFileSync(p, "utf8"); } }
test("x", async () => { console.log(new Store().get(".env")); });
