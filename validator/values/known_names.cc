#include "validator/values/known_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace guard {
namespace {

constexpr std::size_t kSlots = 512;

struct Slot {
  std::string_view name;
  CalleeTraits traits = 0;
};

class TraitTable {
 public:
  TraitTable() noexcept {
    for (const std::string_view name : {"eval", "Function", "GeneratorFunction", "AsyncFunction",
             "AsyncGeneratorFunction", "constructor", "setTimeout", "setInterval", "setImmediate", "runInThisContext",
             "runInNewContext", "runInContext", "compileFunction", "Script", "SourceTextModule", "Worker", "Blob",
             "File", "_compile", "evaluate", "transformSync", "runInDebugContext"}) {
      add(name, kRunsText);
    }
    for (const std::string_view name : {"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork",
             "$", "shell", "execa", "execaSync", "execaCommand", "system", "sh"}) {
      add(name, kRunsCommand);
    }
    for (const std::string_view name :
        {"it", "test", "describe", "expect", "toBe", "toEqual", "toStrictEqual", "toContain", "toMatch", "toThrow",
            "toThrowError", "toHaveBeenCalledWith", "toHaveBeenLastCalledWith", "toHaveBeenNthCalledWith",
            "toMatchInlineSnapshot", "toMatchObject", "toContainEqual", "assert", "only", "skip", "todo", "each"}) {
      add(name, kAsserts);
    }
    for (const std::string_view name : {"writeFile", "writeFileSync", "appendFile", "appendFileSync", "outputFile",
             "outputFileSync", "existsSync", "exists", "mkdir", "mkdirSync", "join", "resolve", "relative", "basename",
             "dirname", "extname", "stat", "statSync", "access", "accessSync", "includes", "startsWith", "endsWith",
             "indexOf", "fromJSON", "mockReturnValue", "mockReturnValueOnce", "mockResolvedValue",
             "mockResolvedValueOnce", "Error", "TypeError", "log", "warn", "error", "info", "Set", "Map", "has", "get",
             "spyOn", "normalize", "parse", "match", "rmSync"}) {
      add(name, kPassive);
    }
    for (const std::string_view name : {"join", "resolve", "normalize", "fromCharCode", "fromCodePoint", "of", "from",
             "Uint8Array", "decode", "String", "URL", "fileURLToPath", "pathToFileURL", "toNamespacedPath",
             "encodeURIComponent", "encodeURI", "encode", "atob", "decodeURIComponent", "decodeURI", "unescape",
             "fromBase64", "fromHex", "cwd", "homedir"}) {
      add(name, kFolds);
    }
  }

  CalleeTraits find(std::string_view name) const noexcept {
    for (std::size_t at = hash_name(name) % kSlots;; at = (at + 1) % kSlots) {
      if (slots_[at].name.empty()) return 0;
      if (slots_[at].name == name) return slots_[at].traits;
    }
  }

 private:
  void add(std::string_view name, CalleeTrait trait) noexcept {
    std::size_t at = hash_name(name) % kSlots;
    while (!slots_[at].name.empty() && slots_[at].name != name) at = (at + 1) % kSlots;
    slots_[at].name = name;
    slots_[at].traits = static_cast<CalleeTraits>(slots_[at].traits | trait);
  }

  std::array<Slot, kSlots> slots_;
};

bool is_program(std::string_view word) noexcept {
  switch (packed_name(word)) {
    case packed_name("npm"):
    case packed_name("npx"):
    case packed_name("pnpm"):
    case packed_name("yarn"):
    case packed_name("bun"):
    case packed_name("bunx"):
    case packed_name("pip"):
    case packed_name("pip3"):
    case packed_name("curl"):
    case packed_name("wget"):
    case packed_name("nsenter"):
    case packed_name("mount"):
    case packed_name("umount"):
    case packed_name("unshare"):
    case packed_name("insmod"):
    case packed_name("modprobe"):
    case packed_name("printenv"):
    case packed_name("env"):
    case packed_name("setns"):
    case packed_name("corepack"):
    case packed_name("uv"):
    case packed_name("uvx"):
    case packed_name("pipx"):
    case packed_name("poetry"):
    case packed_name("docker"):
    case packed_name("podman"):
    case packed_name("capsh"):
    case packed_name("ptrace"):
    case packed_name("python3"):
    case packed_name("python"):
    case packed_name("apt-get"):
    case packed_name("apt"):
    case packed_name("apk"): return true;
    default: return word == "pivot_root";
  }
}

bool is_program_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

bool is_identifier(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 128;
  if (text.empty() || text.size() > kLongest || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), is_word_byte);
}

CalleeTraits traits_of(std::string_view callee) noexcept {
  static const TraitTable kTable;
  const std::string_view name = last_name(callee);
  return name.empty() || name.size() > 32 ? CalleeTraits{0} : kTable.find(name);
}

bool names_program(std::string_view text) noexcept {
  constexpr std::size_t kTextMax = 65'536;
  if (text.size() > kTextMax) return false;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && !(text[at] >= 'a' && text[at] <= 'z')) ++at;
    std::size_t end = at;
    while (end < text.size() && is_program_byte(text[end])) ++end;
    const bool in_name = at > 0 && (text[at - 1] == '.' || (text[at - 1] >= 'A' && text[at - 1] <= 'Z'));  // .env
    if (!in_name && end - at >= 2 && is_program(text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace guard
