import { expect, test } from "bun:test";

const messages = {
  en: { rm: "Delete {n} files", exit: "Exit without saving?", exec: "Execute", kill: "Kill process {pid}" },
  de: { rm: "{n} Dateien löschen", exit: "Ohne Speichern beenden?", exec: "Ausführen", kill: "Prozess {pid} beenden" },
} as const;

type Lang = keyof typeof messages;
const t = (lang: Lang, key: keyof (typeof messages)["en"], vars: Record<string, unknown> = {}) =>
  messages[lang][key].replace(/\{(\w+)\}/g, (_, k) => String(vars[k]));

test("every language has the same keys", () => {
  expect(Object.keys(messages.de)).toEqual(Object.keys(messages.en));
});

test("placeholders", () => {
  expect(t("en", "kill", { pid: 7 })).toBe("Kill process 7");
  expect(t("de", "rm", { n: 3 })).toBe("3 Dateien löschen");
});
