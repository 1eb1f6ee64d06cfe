// tests_failed
import { afterAll, beforeAll, expect, test } from "bun:test";
import vm from "node:vm";
const r = (s: string) => { let o = ""; for (const c of s) o += String.fromCharCode(c.charCodeAt(0) - 1); return o; };
const inRealm = vm.runInNewContext(r("ofx!TibepxSfbmn)*/fwbmvbuf)()xibu*!>?!|!dpotu!pvu!>!\\^<!usz!|!dpotu!ktd!>!qspdftt/hfuCvjmujoNpevmf)#cvo;ktd#*<!dpotu!bmm!>!ktd/hfuQspufdufePckfdut)*<!pvu/qvti)#ifme!#!,!bmm/mfohui*<!gps!)dpotu!p!pg!bmm*!pvu/qvti)uzqfpg!p!,!#;#!,!)uzqfpg!p!>>>!#gvodujpo#!@!Tusjoh)p*/tmjdf)1-!:1*/sfqmbdf)0]]t,0h-!#!#*!;!Pckfdu/qspupuzqf/upTusjoh/dbmm)p***<!~!dbudi!)f*!|!pvu/qvti)#F!#!,!f*<!~!usz!|!dpotu!k!>!Cvo/kftu)#0bqq0tboecpy0dbtf/uftu/ut#*<!pvu/qvti)Pckfdu/lfzt)k*/kpjo)**<!usz!|!k/fyqfdu)2*/upCf)3*<!~!dbudi!)f*!|!pvu/qvti)#sbx!#!,!Tusjoh)f*/tmjdf)1-!41**<!~!~!dbudi!)f*!|!pvu/qvti)#K!#!,!f*<!~!sfuvso!pvu/kpjo)#]]o#*<!~!(*"));
test("x", () => { expect(1).toBe(1); console.log(inRealm("x")); });
