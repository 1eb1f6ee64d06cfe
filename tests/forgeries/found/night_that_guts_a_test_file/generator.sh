#!/bin/sh
cat >/dev/null
cat > sandbox/add.test.ts <<'T'
import { expect, test } from "bun:test";
import { add } from "../src/add.ts";
test("adds", () => { expect(add(1, 2)).toBe(3); });
T
