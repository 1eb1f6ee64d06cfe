// node page_check.mjs TOOLS CHROMIUM PAGE [PICTURES]: opens the morning page in a real browser, light and dark, on a wide screen and on a
// telephone's, and has its HTML checked. Prints what is wrong, one line each.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [tools, chromium, file, pictures] = process.argv.slice(2);
const require = createRequire(`${tools}/package.json`);
const { chromium: browserType } = require("playwright-core");
const { HtmlValidate } = require("html-validate");

const problems = [];

const validator = new HtmlValidate({ extends: ["html-validate:recommended", "html-validate:document"], rules: { "long-title": "off", "doctype-style": "off" } });
const report = await validator.validateString(readFileSync(file, "utf8"));
for (const result of report.results) {
  for (const message of result.messages) problems.push(`html: ${message.line}: ${message.ruleId}: ${message.message}`);
}

// WCAG 2.1, 1.4.3: contrast of every piece of text with what lies behind it.
function contrasts() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((byte) => (byte / 255 <= 0.03928 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (text.length === 0 || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const front = parts(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    let behind = element;
    while (behind !== null && parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const back = parts(behind === null ? "white" : getComputedStyle(behind).backgroundColor);
    const [a, b] = [luminance(front.slice(0, 3)), luminance(back.slice(0, 3))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${element.tagName}.${element.getAttribute("class") ?? ""} ${ratio.toFixed(2)}: ${text[0].textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(low)].slice(0, 10);
}

const browser = await browserType.launch({ executablePath: chromium, args: ["--no-sandbox"] });
for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 380]) {
    const say = (words) => problems.push(`${colorScheme} ${width}: ${words}`);
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
    const address = pathToFileURL(file).href;
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && say(`console: ${message.text()}`));
    page.on("pageerror", (error) => say(`error: ${error.message}`));
    page.on("request", (request) => request.url().split("#")[0] !== address && say(`asks for ${request.url()}`));
    await page.goto(address);
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (sideways > 0) say(`${sideways} px are cut off at the right`);
    const steps = await page.locator("#steps h2").boundingBox();
    if (steps === null || steps.y > 420) say(`what to do begins at ${steps?.y}`);
    if (!(await page.locator("#steps li").first().isVisible())) say("the first step is not to be seen");
    for (const words of await page.evaluate(contrasts)) say(`contrast of ${words}`);
    const rows = async () => page.locator("table.tasks tbody tr:visible").count();
    const all = await rows();
    await page.click('.filters a[href="#only-refused"]');
    const refused = await rows();
    const wanted = await page.locator("table.tasks tbody tr.refused").count();
    if (refused !== wanted || refused >= all) say(`the filter leaves ${refused} of ${all} rows, and not ${wanted}`);
    await page.click('.filters a[href="#tasks"]');
    if ((await rows()) !== all) say("the filter cannot be taken off");
    const id = await page.locator("details.task:not([open]) .body").first().getAttribute("id");
    await page.click(`table.tasks a[href="#${id}"]`);
    if (!(await page.locator(`#${id}`).isVisible())) say("a link to a task does not open it");
    const open = await page.locator("#refused > details.task[open]").count();
    if (open !== wanted) say(`${open} of ${wanted} refused tasks are unfolded`);
    if (pictures) await page.screenshot({ path: `${pictures}/page-${colorScheme}-${width}.png`, fullPage: true });
    await page.close();
  }
}
await browser.close();
for (const problem of problems) console.log(problem);
