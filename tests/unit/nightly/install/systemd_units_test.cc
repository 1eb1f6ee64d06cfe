#include "nightly/install/systemd_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// As nightly/guard-nightly*.{service,timer} have it, the examples that people read.
SystemdUnitRequest example() {
  SystemdUnitRequest request;
  request.home = "/home/ada";
  request.program = "/usr/local/bin/guard";
  request.repository = "/home/ada/calculator";
  request.git_folder = "/home/ada/calculator/.git";
  request.plan = "/home/ada/nightly.toml";
  request.state = "/home/ada/.local/state/guard/nightly/calculator-8e4b7d0f1c2a";
  request.cache = "/home/ada/.cache/guard";
  request.variables = {{"PATH", "/home/ada/.local/bin:/usr/local/bin:/usr/bin:/bin"}};
  return request;
}

std::string text_of(const SystemdUnitRequest& request, std::size_t file = 0) {
  const auto units = night_units(request);
  EXPECT_TRUE(units) << (units ? "" : units.error().message());
  return units ? units->files[file].text : std::string();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string setting(const std::string& text, const std::string& key) {
  for (const auto& line : lines_of(text)) {
    if (line.starts_with(key + "=")) return line.substr(key.size() + 1);
  }
  return "(not set)";
}

// Words as systemd.syntax(7) reads them. `escapes`: of commands; of paths a backslash only takes away the meaning of
// what follows.
enum class Escapes { none, c };
std::vector<std::string> read_words(std::string_view text, Escapes escapes) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    std::string word;
    char quote = 0;
    for (; i < text.size() && (quote != 0 || text[i] != ' '); ++i) {
      const char c = text[i];
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == '\\') {
        const char next = i + 1 < text.size() ? text[++i] : '\0';
        if (escapes == Escapes::c) {
          EXPECT_TRUE(next == '\\' || next == '"') << "an escape that commands give another meaning: " << next;
        }
        word += next;
      } else if (c == '%') {
        EXPECT_EQ(i + 1 < text.size() ? text[++i] : '\0', '%') << "a specifier";
        word += '%';
      } else {
        word += c;
      }
    }
    EXPECT_EQ(quote, 0) << "a quote stays open";
    words.push_back(word);
  }
  return words;
}

constexpr const char* kHostile[] = {"/a b", "/100%h", "/%%", "/a\"b", "/it's", "/back\\slash", "/end\\", "/end\\\\",
    "/\\\"", "/$HOME/${PATH}", "/;", "/#no", "/ü/\u202e", "/-/+/!", "/=[Install]", "/\\x20\\n", "/~"};

// However it is quoted, systemd starts no other one.
bool is_program_of_systemd(const std::string& path) { return path.find_first_of("\"'\\") == std::string::npos; }

TEST(Units, QuoteWordsSoThatSystemdReadsTheSameBytes) {
  for (const std::string path : kHostile) {
    const auto word = unit_word(path);
    ASSERT_TRUE(word);
    for (const auto escapes : {Escapes::none, Escapes::c})
      EXPECT_THAT(read_words(*word, escapes), ElementsAre(path)) << *word;
  }
}

TEST(Units, HoldHostilePathsAsOneWordEach) {
  for (const std::string path : kHostile) {
    SystemdUnitRequest request = example();
    if (is_program_of_systemd(path)) request.program = path;
    request.repository = request.git_folder = request.plan = request.state = request.cache = request.config =
        request.rules = path;
    const std::string text = text_of(request);
    EXPECT_THAT(read_words(setting(text, "ExecStart"), Escapes::c),
        ElementsAre(":" + request.program, "nightly", "run", "--resume", "--project", path, "--state", path, "--config",
            path, "--rules", path, path));
    EXPECT_THAT(read_words(setting(text, "ReadWritePaths"), Escapes::none),
        ElementsAre(path, path, path, "-/home/ada/.claude", "-/home/ada/.codex", "-/home/ada/.gemini"));
    EXPECT_THAT(text, HasSubstr("\nEnvironment=\"GUARD_CACHE_DIR="));
    // What a line of a unit means is decided by its end, too.
    for (const auto& line : lines_of(text)) EXPECT_FALSE(line.ends_with('\\')) << line;
    EXPECT_EQ(read_words(setting(text_of(request, 2), "ExecStart"), Escapes::c).size(), 9u);
  }
}

TEST(Units, RefuseWhatNoUnitCanName) {
  for (const std::string path : {"/a\nExecStartPre=/bin/sh", "/a\tb", "/a\rb", "/a\x7f", "/a\xff", "relative", ""}) {
    EXPECT_FALSE(path.starts_with('/') && unit_word(path)) << path;
    for (auto member : {&SystemdUnitRequest::program, &SystemdUnitRequest::repository, &SystemdUnitRequest::git_folder,
             &SystemdUnitRequest::plan, &SystemdUnitRequest::state, &SystemdUnitRequest::cache}) {
      SystemdUnitRequest request = example();
      request.*member = path;
      const auto units = night_units(request);
      ASSERT_FALSE(units) << path;
      EXPECT_EQ(units.error().code(), ErrorCode::input_invalid);
    }
    if (path.empty()) continue;
    for (auto member : {&SystemdUnitRequest::config, &SystemdUnitRequest::rules, &SystemdUnitRequest::home}) {
      SystemdUnitRequest request = example();
      request.*member = path;
      EXPECT_FALSE(night_units(request)) << path;
    }
  }
  for (const std::string program : {"/a\"b", "/it's", "/a\\b"}) {
    SystemdUnitRequest request = example();
    request.program = program;
    EXPECT_FALSE(night_units(request)) << program;
  }
  SystemdUnitRequest request = example();
  request.variables = {{"DOCKER_HOST", "unix:///a\nb"}};
  EXPECT_FALSE(night_units(request));
}

// cron and a shell, which are asked instead of imitated where that can be.
TEST(Units, QuoteWordsOfACrontabForCronAndForTheShell) {
  for (const std::string path : kHostile) {
    // As cron takes a command apart: a percent sign without a backslash ends it, and that backslash goes.
    std::string command;
    bool escaped = false;
    for (const char c : cron_word(path)) {
      if (escaped && c == '%') command.pop_back();
      EXPECT_TRUE(c != '%' || escaped) << path;
      escaped = !escaped && c == '\\';
      command += c;
    }
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", "printf %s " + command};
    const auto said = collect_process(spec, 4096, CancelToken());
    ASSERT_TRUE(said);
    EXPECT_EQ(said->out, path) << command;
  }
}

TEST(Units, TakeOverOfAPathWhatNobodyElseCanWrite) {
  EXPECT_EQ(unit_path("/usr/bin:node_modules/.bin:.::/repo/bin:/repository/bin:/repo:/bin:/a\nb", "/repo"),
      "/usr/bin:/repository/bin:/bin");
  EXPECT_EQ(unit_path("", "/repo"), "");
}

TEST(Units, AreNamedAfterTheRepositoryAndNeverAlike) {
  EXPECT_THAT(unit_stem("/home/ada/calculator"), ::testing::MatchesRegex("guard-nightly-calculator-[0-9a-f]{12}"));
  EXPECT_NE(unit_stem("/home/ada/calculator"), unit_stem("/home/bob/calculator"));
  EXPECT_THAT(
      unit_stem("/srv/a b%@x\n.service"), ::testing::MatchesRegex("guard-nightly-a_b__x__service-[0-9a-f]{12}"));
  EXPECT_LT(unit_stem("/" + std::string(1000, 'x')).size(), 100u);
}

TEST(Units, SayWhenTheNightBeginsAndAskOnceItMustBeOver) {
  SystemdUnitRequest request = example();
  EXPECT_EQ(setting(text_of(request, 1), "OnCalendar"), "*-*-* 02:00:00");
  EXPECT_EQ(setting(text_of(request, 1), "Persistent"), "true");
  EXPECT_EQ(setting(text_of(request, 3), "OnCalendar"), "*-*-* 13:00:00");
  request.at = std::chrono::minutes(23 * 60 + 5);
  request.budget = std::chrono::seconds(3600);
  EXPECT_EQ(setting(text_of(request, 1), "OnCalendar"), "*-*-* 23:05:00");
  EXPECT_EQ(setting(text_of(request, 3), "OnCalendar"), "*-*-* 03:05:00");
  EXPECT_TRUE(night_units(request)->cron[0].starts_with("5 23 * * * ")) << night_units(request)->cron[0];
  EXPECT_TRUE(night_units(request)->cron[1].starts_with("5 3 * * * ")) << night_units(request)->cron[1];
  // A night without end is asked after before the next one begins.
  request.budget = std::chrono::hours(7 * 24);
  EXPECT_EQ(setting(text_of(request, 3), "OnCalendar"), "*-*-* 22:05:00");
}

TEST(Units, LeaveWhatANightNeeds) {
  for (const auto manager : {UnitManager::user, UnitManager::system}) {
    for (const char* user : {"", "1000"}) {
      SystemdUnitRequest request = example();
      request.manager = manager;
      request.user = user;
      const std::string text = text_of(request);
      for (const char* key : {"PrivateNetwork", "IPAddressDeny", "ProtectHome", "RestrictNamespaces",
               "ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "ProtectHostname",
               "MemoryDenyWriteExecute", "RuntimeMaxSec"}) {
        EXPECT_EQ(setting(text, key), "(not set)") << key;
      }
      EXPECT_EQ(setting(text, "SuccessExitStatus"), "1");
      EXPECT_EQ(setting(text, "OOMPolicy"), "continue");
      EXPECT_EQ(setting(text, "KillMode"), "mixed");
      EXPECT_EQ(setting(text, "ProtectSystem"), "strict");
      EXPECT_EQ(setting(text, "NoNewPrivileges"), "yes");
    }
  }
}

TEST(Units, RunAsWhoTheyAreFor) {
  SystemdUnitRequest request = example();
  EXPECT_EQ(setting(text_of(request), "PrivateUsers"), "yes");
  EXPECT_EQ(setting(text_of(request), "User"), "(not set)");
  request.manager = UnitManager::system;
  request.user = "1000";
  EXPECT_EQ(setting(text_of(request), "User"), "1000");
  EXPECT_EQ(setting(text_of(request, 2), "User"), "1000");
  EXPECT_EQ(setting(text_of(request), "PrivateUsers"), "(not set)");
  EXPECT_EQ(setting(text_of(request), "CapabilityBoundingSet"), "");
  // Root's sandboxes change their user, which takes capabilities.
  request.user = "";
  EXPECT_EQ(setting(text_of(request), "CapabilityBoundingSet"), "(not set)");
}

TEST(Units, SeeTmpWhereSomethingOfTheNightLiesThere) {
  SystemdUnitRequest request = example();
  EXPECT_EQ(setting(text_of(request), "PrivateTmp"), "yes");
  request.repository = "/tmpfolder/a";
  EXPECT_EQ(setting(text_of(request), "PrivateTmp"), "yes");
  request.repository = "/tmp/a";
  EXPECT_EQ(setting(text_of(request), "PrivateTmp"), "(not set)");
  request.repository = "/tmpfolder/a";
  for (const char* value :
      {"unix:///tmp/engine/socket", "/usr/bin:/var/tmp/bin", "/tmp", "--require /tmp/x.js", "--import=/var/tmp/x.js"}) {
    request.variables = {{"DOCKER_HOST", value}};
    EXPECT_EQ(setting(text_of(request), "PrivateTmp"), "(not set)") << value;
  }
  request.variables = {{"DOCKER_HOST", "unix:///run/tmp/socket"}};
  EXPECT_EQ(setting(text_of(request), "PrivateTmp"), "yes");
}

TEST(Units, BearTheMarkInTheirFirstLine) {
  const auto units = night_units(example());
  ASSERT_TRUE(units);
  ASSERT_EQ(units->files.size(), 4u);
  for (const auto& file : units->files) EXPECT_TRUE(file.text.starts_with(std::string(kUnitMark) + "\n")) << file.name;
  EXPECT_THAT(units->timers, ElementsAre(units->files[1].name, units->files[3].name));
}

// The examples that people read are what the function writes. GUARD_WRITE_EXAMPLES=1 writes them anew.
TEST(Units, AreWhatTheExamplesShow) {
  const auto units = night_units(example());
  ASSERT_TRUE(units);
  const char* names[] = {
      "guard-nightly.service", "guard-nightly.timer", "guard-nightly-check.service", "guard-nightly-check.timer"};
  for (std::size_t i = 0; i < 4; ++i) {
    const fs::path path = fs::path(GUARD_SOURCE_DIR) / "nightly" / names[i];
    if (std::getenv("GUARD_WRITE_EXAMPLES") != nullptr) {
      ASSERT_TRUE(write_file_atomically(path, units->files[i].text, 0644));
    }
    const auto shown = read_file(path, 1u << 20);
    ASSERT_TRUE(shown) << path;
    EXPECT_EQ(*shown, units->files[i].text) << path;
  }
}

// systemd's own reading, offline: nothing is started, and no manager is asked.
class UnitsInSystemd : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"/usr/bin", "/bin"}) {
      if (::access((std::string(folder) + "/systemd-analyze").c_str(), X_OK) == 0)
        program_ = std::string(folder) + "/systemd-analyze";
    }
    if (program_.empty()) GTEST_SKIP() << "no systemd-analyze on this machine";
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    ASSERT_EQ(::chmod(folder_->path().c_str(), 0755), 0);
    const fs::path home = folder_->path() / "home";
    ASSERT_TRUE(make_folders(home, 0700));
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(home.c_str(), 1000, 1000), 0);
    }
  }
  CollectedProcess analyze(std::vector<std::string> arguments) const {
    const std::string home = (folder_->path() / "home").native();
    ProcessSpec spec;
    // Never as root: reading the machine's units, it would leave marks in /run.
    if (::geteuid() == 0)
      spec.argv = {"setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--no-new-privs"};
    spec.argv.push_back(program_);
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", home}, {"XDG_RUNTIME_DIR", home}, {"TMPDIR", home},
        {"SYSTEMD_PAGER", ""}, {"LANG", "C.UTF-8"}};
    spec.deadline = Deadline::after(std::chrono::seconds(60));
    auto ran = collect_process(spec, 1u << 20, CancelToken());
    EXPECT_TRUE(ran);
    return ran ? std::move(*ran) : CollectedProcess{};
  }
  std::vector<std::string> write(const SystemdUnitRequest& request) const {
    std::vector<std::string> paths;
    const auto units = night_units(request);
    EXPECT_TRUE(units);
    for (const auto& file : units->files) {
      paths.push_back((folder_->path() / file.name).native());
      EXPECT_TRUE(write_file_atomically(paths.back(), file.text));
    }
    return paths;
  }
  std::string program_;
  std::optional<TempDir> folder_;
};

TEST_F(UnitsInSystemd, AreTakenWithoutAWord) {
  for (const auto manager : {UnitManager::user, UnitManager::system}) {
    for (const std::string name : {"plain", "a b", "100%h", "it's \"q\"", "back\\slash", "end\\", "$HOME"}) {
      SystemdUnitRequest request = example();
      request.manager = manager;
      request.user = "1000";
      // What is to be started has to be there, under that very name.
      const fs::path program = folder_->path() / (is_program_of_systemd(name) ? name : "guard");
      ASSERT_TRUE(write_file_atomically(program, "#!/bin/sh\n", 0755));
      request.program = program.native();
      request.repository = request.plan = request.state = "/home/ada/" + name;
      std::vector<std::string> arguments = {manager == UnitManager::user ? "--user" : "--system", "--man=no", "verify"};
      for (const auto& path : write(request)) arguments.push_back(path);
      const auto said = analyze(arguments);
      EXPECT_EQ(said.result.outcome.value, 0) << name << said.err;
      EXPECT_THAT(said.err, Not(HasSubstr("guard-nightly"))) << name;
    }
  }
}

TEST_F(UnitsInSystemd, AreExposedNoMoreThanTheDocumentationSays) {
  SystemdUnitRequest request = example();
  const auto user = write(request);
  // In tenths; docs/nightly.md names these numbers.
  auto said = analyze({"--user", "security", "--offline=true", "--threshold=42", user[0]});
  EXPECT_EQ(said.result.outcome.value, 0) << said.out << said.err;
  said = analyze({"--user", "security", "--offline=true", "--threshold=18", user[2]});
  EXPECT_EQ(said.result.outcome.value, 0) << said.out << said.err;
  request.manager = UnitManager::system;
  request.user = "1000";
  said = analyze({"security", "--offline=true", "--threshold=36", write(request)[0]});
  EXPECT_EQ(said.result.outcome.value, 0) << said.out << said.err;
}

}  // namespace
}  // namespace guard::nightly
