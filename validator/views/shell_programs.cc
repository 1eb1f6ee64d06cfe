#include "validator/views/shell_programs.h"

#include <algorithm>
#include <array>

#include "common/text/glob.h"

namespace guard {
namespace {

constexpr std::size_t kRoundsMax = 16;  // of wrappers around wrappers

struct Wrapper {
  std::string_view name;
  std::string_view values;  // short options that take a value
  int operands = 0;         // words before the program: timeout 5 sh
};

// Words of the grammar (if, do, {) stand here too: behind them a command begins.
constexpr Wrapper kWrappers[] = {
    {"sudo", "ugpCDhRrTt"},
    {"doas", "uC"},
    {"env", "uC"},
    {"exec", "a"},
    {"nohup", ""},
    {"timeout", "ks", 1},
    {"xargs", "aEILnPsd"},
    {"time", "fo"},
    {"nice", "n"},
    {"ionice", "cnp"},
    {"command", ""},
    {"builtin", ""},
    {"busybox", ""},
    {"toybox", ""},
    {"stdbuf", "ioe"},
    {"setsid", ""},
    {"chroot", "", 1},
    {"if", ""},
    {"then", ""},
    {"else", ""},
    {"elif", ""},
    {"while", ""},
    {"until", ""},
    {"do", ""},
    {"!", ""},
    {"{", ""},
    {"}", ""},
    {"function", "", 1},
    {"coproc", ""},
    {"watch", "n"},
    {"cross-env", ""},
    {"dotenvx", ""},
    {"winpty", ""},
    {"flock", "wE", 1},
    {"taskset", "", 1},
    {"chrt", "", 1},
    {"fakeroot", ""},
    {"unbuffer", ""},
    {"xvfb-run", "ens"},
    {"gosu", "", 1},
    {"su-exec", "", 1},
    {"setpriv", ""},
    {"tini", ""},
    {"dumb-init", ""},
    {"systemd-run", "pu"},
    {"eatmydata", ""},
    {"parallel", "jaN"},
};

// Long options of theirs whose value is the next word, if it is not joined by `=`.
constexpr std::array<std::string_view, 24> kLongValues = {"--user", "--group", "--host", "--prompt", "--chdir",
    "--chroot", "--role", "--type", "--unset", "--kill-after", "--signal", "--class", "--priority", "--delimiter",
    "--max-args", "--max-procs", "--max-lines", "--replace", "--arg-file", "--adjustment", "--input", "--output",
    "--error", "--interval"};

// What a pattern in the place of a program is held against.
constexpr std::array<std::string_view, 26> kSoughtPrograms = {"npm", "npx", "pnpm", "yarn", "bun", "bunx", "pip",
    "pip3", "curl", "wget", "nsenter", "mount", "umount", "unshare", "insmod", "modprobe", "printenv", "env", "sh",
    "bash", "cat", "base64", "pivot_root", "corepack", "docker", "uvx"};

constexpr std::array<std::string_view, 17> kShells = {"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh",
    "rbash", "csh", "tcsh", "eval", "source", ".", "pwsh", "cmd", "powershell"};

// Is the value of the option the word behind it?
bool takes_next(const Wrapper& wrapper, std::string_view option) {
  if (option.starts_with("--")) return std::find(kLongValues.begin(), kLongValues.end(), option) != kLongValues.end();
  const std::size_t value = option.find_first_of(wrapper.values, 1);  // -iu me, but not -ume
  return !wrapper.values.empty() && value == option.size() - 1;
}

// A program and its arguments in one word: env -S "npm install".
void split_first(std::vector<std::string>& words) {
  const std::size_t blank = words[0].find(' ');
  if (blank == std::string::npos || blank == 0) return;
  std::string rest = words[0].substr(blank + 1);
  words[0].resize(blank);
  words.insert(words.begin() + 1, std::move(rest));
}

// The index of the program behind the wrapper, or the number of words.
std::size_t wrapped_program(const Wrapper& wrapper, const std::vector<std::string>& words) {
  int operands = wrapper.operands;
  for (std::size_t next = 1; next < words.size(); ++next) {
    const std::string_view word = words[next];
    if (word.size() > 1 && word[0] == '-') {
      if (word == "-S" || word == "--split-string") return next + 1;
      // They only tell where a program lies.
      if (wrapper.name == "command" && (word == "-v" || word == "-V")) return words.size();
      if (takes_next(wrapper, word)) ++next;
    } else if (is_shell_assignment(word)) {
      continue;
    } else if (operands-- <= 0) {
      return next;
    }
  }
  return words.size();
}

}  // namespace

std::string_view program_name(std::string_view word) noexcept {
  if (word.find("://") != std::string_view::npos) return word;
  const std::size_t slash = word.rfind('/');
  std::string_view name = slash == std::string_view::npos ? word : word.substr(slash + 1);
  if (name.empty()) return word;
  for (const std::string_view tail : {".exe", ".cmd"}) {
    if (name.size() > tail.size() && name.substr(name.size() - tail.size()) == tail) name.remove_suffix(tail.size());
  }
  return name;
}

bool is_shell_program(std::string_view name) noexcept {
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

bool is_shell_assignment(std::string_view word) noexcept {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9')) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_shell_name_byte);
}

void strip_wrappers(std::vector<std::string>& words) {
  for (std::size_t round = 0; round < kRoundsMax && words.size() > 1; ++round) {
    const std::string_view name = program_name(words[0]);
    const Wrapper* const wrapper =
        std::find_if(std::begin(kWrappers), std::end(kWrappers), [&](const Wrapper& w) { return w.name == name; });
    if (wrapper == std::end(kWrappers)) return;
    const std::size_t next = wrapped_program(*wrapper, words);
    if (next >= words.size()) return;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(next));
    split_first(words);
  }
}

std::string_view program_of_pattern(std::string_view name) {
  constexpr std::size_t kPatternMax = 32;
  if (name.find_first_of("*?[") == std::string_view::npos || name.size() > kPatternMax) return name;
  // A bracket expression stands for one byte, whichever.
  std::string pattern;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::size_t close = name[i] == '[' ? name.find(']', i + 2) : std::string_view::npos;
    pattern += close == std::string_view::npos ? name[i] : '?';
    if (close != std::string_view::npos) i = close;
  }
  for (const std::string_view sought : kSoughtPrograms) {
    if (glob_matches(pattern, sought)) return sought;
  }
  return name;
}

}  // namespace guard
