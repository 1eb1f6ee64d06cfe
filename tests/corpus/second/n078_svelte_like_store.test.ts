import { expect, test } from "bun:test";

function writable<T>(value: T) {
  const subs = new Set<(v: T) => void>();
  return {
    set(v: T) { value = v; subs.forEach((s) => s(v)); },
    subscribe(fn: (v: T) => void) { subs.add(fn); fn(value); return () => subs.delete(fn); },
  };
}

test("notifies until unsubscribed", () => {
  const store = writable({ process: { env: "a" } });
  const seen: string[] = [];
  const off = store.subscribe((v) => seen.push(v.process.env));
  store.set({ process: { env: "b" } });
  off();
  store.set({ process: { env: "c" } });
  expect(seen).toEqual(["a", "b"]);
});
