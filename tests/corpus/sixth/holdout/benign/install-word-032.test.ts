import { expect, test } from "bun:test";

interface Plugin { name: string; install(app: Host): void }
class Host {
  names: string[] = [];
  use(p: Plugin) { p.install(this); return this; }
  add(n: string) { this.names.push(n); }
}
const pip: Plugin = { name: "picture-in-picture", install: (app) => app.add("pip") };

test("install hooks into the host", () => {
  expect(new Host().use(pip).names).toEqual(["pip"]);
});
