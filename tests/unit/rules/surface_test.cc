#include "rules/surface.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace guard {
namespace {

TEST(Surface, KnowsWhatStandsBehindAMember) {
  EXPECT_EQ(member_class("process", "cwd"), SurfaceClass::free);
  EXPECT_EQ(member_class("process", "exit"), SurfaceClass::named);
  EXPECT_EQ(member_class("process", "execve"), SurfaceClass::host);
  EXPECT_EQ(member_class("process", "report"), SurfaceClass::always);
  EXPECT_EQ(member_class("Bun", "secrets"), SurfaceClass::docker);
  EXPECT_EQ(member_class("Bun", "spawn"), SurfaceClass::named);
  EXPECT_EQ(member_class("import.meta", "url"), SurfaceClass::free);
  EXPECT_EQ(member_class("module", "_load"), SurfaceClass::host);
}

// What nobody has looked at is not free. Only `module` is a name of too many other things.
TEST(Surface, TakesNoUnknownMemberForAFreeOne) {
  for (const char* object : {"process", "Bun", "import.meta"}) {
    EXPECT_EQ(member_class(object, "brandNew"), SurfaceClass::unlisted) << object;
    EXPECT_EQ(member_class(object, ""), SurfaceClass::unlisted) << object;
    EXPECT_EQ(member_class(object, "CWD"), SurfaceClass::unlisted) << object;
  }
  EXPECT_EQ(member_class("module", "brandNew"), SurfaceClass::foreign);
}

TEST(Surface, IsSilentAboutOtherObjects) {
  for (const char* object : {"", "console", "Process", "globalThis", "modules", "handlers", "process.env"}) {
    EXPECT_EQ(member_class(object, "exit"), SurfaceClass::foreign) << object;
  }
}

TEST(Surface, KnowsModulesWithAndWithoutNode) {
  EXPECT_EQ(module_class("fs"), SurfaceClass::free);
  EXPECT_EQ(module_class("node:fs/promises"), SurfaceClass::free);
  EXPECT_EQ(module_class("child_process"), SurfaceClass::named);
  EXPECT_EQ(module_class("node:child_process"), SurfaceClass::named);
  EXPECT_EQ(module_class("bun:jsc"), SurfaceClass::host);
  EXPECT_EQ(module_class("node:brand_new"), SurfaceClass::unlisted);
  EXPECT_EQ(module_class("bun:brand_new"), SurfaceClass::unlisted);
  EXPECT_EQ(module_class("node:"), SurfaceClass::unlisted);
  for (const char* specifier : {"", "left-pad", "./fs", "https://example.invalid/fs", "NODE:fs", "fs/", "file:fs"}) {
    EXPECT_EQ(module_class(specifier), SurfaceClass::foreign) << specifier;
  }
}

TEST(Surface, KnowsTheFileSystemUnderItsOtherNames) {
  for (const char* specifier :
      {"fs", "node:fs", "fs/promises", "node:fs/promises", "fs-extra", "npm:fs-extra", "fs-extra/esm", "graceful-fs"}) {
    EXPECT_TRUE(is_file_system(specifier)) << specifier;
  }
  for (const char* specifier :
      {"", "/", "memfs", "./fs", "../fs", "fs-extras", "@x/fs", "file:fs", "src/fs/promises"}) {
    EXPECT_FALSE(is_file_system(specifier)) << specifier;
  }
}

TEST(Surface, KnowsCallsThatMayBeHandedARoot) {
  for (const char* name : {"spyOn", "expect", "toBe"}) EXPECT_TRUE(is_free_handler(name)) << name;
  for (const char* name : {"", "use", "keys", "stringify", "expect.soft", "SpyOn"})
    EXPECT_FALSE(is_free_handler(name)) << name;
}

// --- against the bun that runs the tests -----------------------------------------------------------------------------

// Each name that bun has as "object<TAB>name". No apostrophe: it stands in a shell's quotes.
constexpr const char* kEnumerate = R"js(
const tell = (object, names) => { for (const name of names) console.log(object + "\t" + name); };
const names = (o) => {
  const all = new Set();
  for (let p = o; p && p !== Object.prototype && p !== Function.prototype; p = Object.getPrototypeOf(p))
    for (const name of Object.getOwnPropertyNames(p)) all.add(name);
  return [...all];
};
const m = await import("node:module");
tell("process", names(process));
tell("Bun", names(Bun));
tell("import.meta", names(import.meta));
const extra = ["default", "__esModule", "length", "name", "prototype"];
tell("module", names(m).filter((n) => !extra.includes(n)));
tell("module", names(m.default).filter((n) => !extra.includes(n)));
tell("modules", m.builtinModules);
)js";

std::string output_of(const std::string& command, int& status) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    status = -1;
    return {};
  }
  std::string text;
  char buffer[4096];
  std::size_t size = 0;
  while ((size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) text.append(buffer, size);
  status = pclose(pipe);
  return text;
}

// The alarm for a new version of bun: look at what each new name leads to, and put it into a list of runtime_api.toml.
TEST(Surface, ListsEveryNameThatBunHas) {
  const char* const named = std::getenv("GUARD_BUN");
  const std::string bun = named != nullptr ? named : "bun";
  int status = 0;
  const std::string version = output_of("'" + bun + "' --version 2>/dev/null", status);
  if (status != 0 && named == nullptr) GTEST_SKIP() << "no bun: neither GUARD_BUN nor a bun in PATH";
  ASSERT_EQ(status, 0) << bun << " does not start";

  const std::string text = output_of("'" + bun + "' -e '" + std::string(kEnumerate) + "'", status);
  ASSERT_EQ(status, 0) << bun << " could not enumerate its names";
  std::size_t seen = 0;
  std::string missing;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end == std::string::npos ? text.size() : end + 1;
    const std::size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string object = line.substr(0, tab);
    const std::string name = line.substr(tab + 1);
    ++seen;
    const SurfaceClass surface = object == "modules" ? module_class(name) : member_class(object, name);
    if (surface == SurfaceClass::unlisted || surface == SurfaceClass::foreign)
      missing += "\n  [" + object + "] " + name;
  }
  EXPECT_GT(seen, 300U);
  EXPECT_EQ(missing, "") << "bun " << version << "has names that no list of rules/runtime_api.toml has:" << missing;
}

// --- the compiler of runtime_api.toml
// ------------------------------------------------------------------------------------

// Its exit status and what it says about a file with this text.
std::pair<int, std::string> compile(const std::string& text) {
  const std::string own = ::testing::TempDir() + "guard-" + std::to_string(::getpid());  // several run at once
  const std::string from = own + "-surface.toml";
  const std::string to = own + "-surface.inc";
  const std::string packages = own + "-packages.toml";
  std::ofstream(from) << text;
  std::ofstream(packages) << "[packages]\nfile_system = [\"fs-extra\"]\n";
  int status = 0;
  const std::string said = output_of(
      "'" GUARD_SURFACE_COMPILER "' '" + from + "' '" + packages + "' '" + to + "' 2>&1 && cat '" + to + "'", status);
  std::remove(from.c_str());
  std::remove(packages.c_str());
  std::remove(to.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, said};
}

TEST(SurfaceCompiler, WritesASortedTable) {
  const auto [status, said] =
      compile("[objects.process]\nhost = [\"z\", \"a\"]\nfree = [\"m\"]\n[modules]\nnamed = [\"b\"]\n");
  EXPECT_EQ(status, 0) << said;
  EXPECT_EQ(said,
      "constexpr SurfaceRow kSurfaceRows[] = {\n"
      "  {\"file_system\", \"fs-extra\", SurfaceClass::named},\n"
      "  {\"modules\", \"b\", SurfaceClass::named},\n"
      "  {\"process\", \"a\", SurfaceClass::host},\n"
      "  {\"process\", \"m\", SurfaceClass::free},\n"
      "  {\"process\", \"z\", SurfaceClass::host},\n"
      "};\n");
}

TEST(SurfaceCompiler, RefusesWhatWouldLeaveANameInDoubt) {
  for (const auto& [text, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"[objects.process]\nfree = [\"a\"]\nhost = [\"a\"]\n", "a stands twice under process"},
           {"[objects.process]\nfree = [\"a\", \"a\"]\n", "a stands twice under process"},
           {"[objects.process]\nharmless = [\"a\"]\n",
               "a class (free, named, host, docker, always) with names is expected"},
           {"[objects.process]\nfree = []\n", "with names is expected"},
           {"[objects.process]\nfree = \"a\"\n", "with names is expected"}, {"[objects.process\n", "surface"}}) {
    const auto [status, said] = compile(text);
    EXPECT_EQ(status, 1) << text;
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace guard
