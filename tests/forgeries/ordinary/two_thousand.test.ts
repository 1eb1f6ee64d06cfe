// Two thousand tests.
import { describe, expect, test } from "bun:test";
for (let group = 0; group < 20; ++group) describe(`group ${group}`, () => { for (let i = 0; i < 100; ++i) test(`test ${i}`, () => { expect(i + group).toBeLessThan(2000); }); });
