import { describe, expect, it, mock } from "bun:test";

type Plugin = { mount(root: string): void; unmount(): void };
class Host {
  #plugins: Plugin[] = [];
  use(p: Plugin) { this.#plugins.push(p); p.mount("/app"); }
  dispose() { for (const p of this.#plugins.splice(0)) p.unmount(); }
}

describe("Host", () => {
  it("mounts and unmounts its plugins", () => {
    const p = { mount: mock(() => {}), unmount: mock(() => {}) };
    const host = new Host();
    host.use(p);
    expect(p.mount).toHaveBeenCalledWith("/app");
    host.dispose();
    expect(p.unmount).toHaveBeenCalledTimes(1);
  });
});
