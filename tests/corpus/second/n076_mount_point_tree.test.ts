import { describe, expect, it } from "bun:test";

type Handler = (path: string) => string;
class App {
  #mounts = new Map<string, Handler>();
  mount(prefix: string, h: Handler) { this.#mounts.set(prefix, h); return this; }
  handle(path: string) {
    for (const [p, h] of this.#mounts) if (path.startsWith(p)) return h(path.slice(p.length));
    return "404";
  }
}

describe("App.mount", () => {
  const app = new App().mount("/proc", (p) => `processes${p}`).mount("/env", (p) => `environments${p}`);
  it("strips the prefix", () => expect(app.handle("/proc/12")).toBe("processes/12"));
  it("falls through", () => expect(app.handle("/x")).toBe("404"));
});
