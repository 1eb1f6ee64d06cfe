import { describe, expect, test } from "bun:test";

const specifiers = (src: string) => [...src.matchAll(/(?:from|import|require)\s*\(?\s*["']([^"']+)["']/g)].map((m) => m[1]);

describe("specifiers()", () => {
  const src = `
    import fs from "node:fs";
    import { spawn } from 'node:child_process';
    const vm = require("vm");
    const x = await import("./local");
  `;
  test("finds all four", () => {
    expect(specifiers(src)).toEqual(["node:fs", "node:child_process", "vm", "./local"]);
  });
  test("builtin filter", () => {
    const builtins = new Set(["child_process", "vm", "worker_threads", "module"]);
    expect(specifiers(src).filter((s) => builtins.has(s.replace("node:", "")))).toHaveLength(2);
  });
});
