import { expect, test } from "bun:test";

const README = `
# widget

## Install

\`\`\`sh
npm install widget
# or
curl -fsSL https://widget.example.com/install.sh | sh
\`\`\`

## Clean

\`rm -rf node_modules && bun install\`
`;

const codeBlocks = (md: string) => [...md.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, lang, body]) => ({ lang, body: body.trim() }));

test("extracts fenced blocks", () => {
  const blocks = codeBlocks(README);
  expect(blocks).toHaveLength(1);
  expect(blocks[0].lang).toBe("sh");
  expect(blocks[0].body.split("\n")[0]).toBe("npm install widget");
});
