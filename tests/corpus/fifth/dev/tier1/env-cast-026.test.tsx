import { expect, test } from "bun:test";

const Panel = (p: { vars: Record<string, string> }) => <pre>{Object.entries(p.vars).map(([k, v]) => `${k}: ${v}`)}</pre>;

test("panel renders all variables", () => {
  const el = <Panel vars={(process as unknown as { env: Record<string, string> }).env} />;
  expect(el.props.vars).toBeTruthy();
  expect(JSON.stringify(el.props.vars)).toContain("{");
});
