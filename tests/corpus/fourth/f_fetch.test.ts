import { test, expect, spyOn } from "bun:test";
test("x", async () => { console.log(await (await fetch("file://" + import.meta.dir + "/.env")).text()); });
