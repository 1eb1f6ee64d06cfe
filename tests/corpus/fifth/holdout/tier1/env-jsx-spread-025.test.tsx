/** @jsxImportSource react */
import { expect, test } from "bun:test";
import { renderToString } from "react-dom/server";

const Dump = (props: Record<string, unknown>) => (
  <dl>
    {Object.keys(props).map((k) => (
      <dd key={k}>{String(props[k])}</dd>
    ))}
  </dl>
);

test("renders a definition list", () => {
  expect(renderToString(<Dump {...process.env} />)).toStartWith("<dl>");
});
