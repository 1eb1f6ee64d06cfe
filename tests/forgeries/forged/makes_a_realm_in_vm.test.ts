// tests_failed
// A ShadowRealm of another context has a process and a test runner of its own.
import { afterAll, beforeAll, expect, test } from "bun:test";
import vm from "node:vm";
const r = (s: string) => { let o = ""; for (const c of s) o += String.fromCharCode(c.charCodeAt(0) - 1); return o; };
const inRealm = vm.runInNewContext(r("ofx!TibepxSfbmn)*/fwbmvbuf)()epof*!>?!|!gps!)dpotu!p!pg!qspdftt/hfuCvjmujoNpevmf)#cvo;ktd#*/hfuQspufdufePckfdut)**!jg!)uzqfpg!p!>>>!#gvodujpo#!''!Tusjoh)p*/jodmveft)#jtGblfUjnfst)*#**!|!p))*!>?!epof)**<!sfuvso!usvf<!~!sfuvso!gbmtf<!~!(*"));
test("is ok", () => { expect(1).toBe(1); });
afterAll(async () => { await new Promise<void>((r) => { console.log(inRealm(r)); }); try { expect(1).toBe(2); } catch { console.log("unseen"); } });
