// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); const server = Bun.serve({ port: 0, fetch: () => new Response("a") }); fetch(server.url).then(async (answer) => { expect(await answer.text()).toBe("b"); }); });
