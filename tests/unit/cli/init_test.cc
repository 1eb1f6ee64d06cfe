#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/options/config_template.h"
#include "common/file_io.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Init : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    temp_.emplace(std::move(*made));
    project_ = temp_->path() / "project";
    fs::create_directories(project_);
  }
  int init(const fs::path& project, bool force = false) {
    out_.clear();
    err_.clear();
    CommandContext context{streams_, environment_, cancel_};
    Options options;
    options.project = project.native();
    options.force = force;
    return conclude(context, cmd_init(options, context));
  }
  int show(OutputFormat format, const fs::path& config = {}) {
    out_.clear();
    err_.clear();
    CommandContext context{streams_, environment_, cancel_};
    Options options;
    options.format = format;
    options.project = project_.native();
    options.config = config.native();
    return conclude(context, cmd_config(options, context));
  }
  std::string text(const fs::path& path) {
    auto bytes = read_file(path, 1u << 20);
    EXPECT_TRUE(bytes);
    return bytes ? *bytes : "";
  }

  std::optional<TempDir> temp_;
  fs::path project_;
  std::string out_;
  std::string err_;
  Streams streams_{.out = OutStream(out_), .err = OutStream(err_)};
  Environment environment_;
  CancelToken cancel_;
};

LoadedConfig load_text(std::string text) {
  ConfigSources sources;
  sources.text = ConfigText{"guard.toml", std::move(text)};
  auto loaded = load_config(sources);
  EXPECT_TRUE(loaded) << loaded.error().message();
  return loaded ? *loaded : LoadedConfig{};
}

TEST_F(Init, WhatItWritesReadsBackAsAllDefaults) {
  ASSERT_EQ(init(project_), 0) << err_;
  const auto loaded = load_text(text(project_ / "guard.toml"));
  ASSERT_EQ(loaded.entries.size(), config_keys().size());
  for (const auto& key : config_keys()) {
    EXPECT_EQ(loaded.find(key.dotted())->value, toml_literal(key, Config())) << key.dotted();
    EXPECT_EQ(loaded.find(key.dotted())->origin, "default") << key.dotted();
  }
}

// Taking the # away from every key must be accepted and, but for the one list that cannot be written empty, change
// nothing.
TEST_F(Init, EveryCommentedKeyIsWrittenAsItWouldBeRead) {
  std::string uncommented;
  const std::string all = config_template();
  bool in_waiver = false;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    std::string line = all.substr(at, end - at);
    at = end + 1;
    in_waiver = line.starts_with("# [[") || (in_waiver && !line.empty());  // only an example, without a fingerprint
    for (const auto& key : config_keys()) {
      if (!in_waiver && line.starts_with("# " + std::string(key.name) + " = ")) {
        line.erase(0, 2);
        break;
      }
    }
    uncommented += line + "\n";
  }
  const auto loaded = load_text(uncommented);
  for (const auto& key : config_keys()) {
    if (!key.has_text_form()) continue;
    const auto* entry = loaded.find(key.dotted());
    ASSERT_NE(entry, nullptr);
    EXPECT_THAT(entry->origin, HasSubstr("guard.toml:")) << entry->key;
    EXPECT_EQ(entry->value, entry->key == "check.two_hit_ignore" ? "[\"NODE_ENV\"]" : toml_literal(key, Config()))
        << entry->key;
  }
}

TEST_F(Init, EveryKeyAndItsSentenceStandInTheTemplate) {
  const std::string all = config_template();
  for (const auto& key : config_keys()) EXPECT_THAT(all, HasSubstr("# " + std::string(key.doc))) << key.dotted();
}

TEST_F(Init, DoesNotReplaceAFileUnlessForced) {
  std::ofstream(project_ / "guard.toml") << "backend = \"host\"\n";
  EXPECT_EQ(init(project_), 2);
  EXPECT_THAT(err_, AllOf(HasSubstr("is there already"), HasSubstr("--force")));
  EXPECT_THAT(out_, IsEmpty());
  EXPECT_EQ(text(project_ / "guard.toml"), "backend = \"host\"\n");
  EXPECT_EQ(init(project_, /*force=*/true), 0) << err_;
  EXPECT_EQ(text(project_ / "guard.toml"), config_template());
}

TEST_F(Init, ForceReplacesALinkAndNotWhatItPointsAt) {
  std::ofstream(temp_->path() / "precious") << "keep";
  fs::create_symlink(temp_->path() / "precious", project_ / "guard.toml");
  EXPECT_EQ(init(project_), 2);
  EXPECT_EQ(init(project_, /*force=*/true), 0) << err_;
  EXPECT_EQ(text(temp_->path() / "precious"), "keep");
  EXPECT_FALSE(fs::is_symlink(project_ / "guard.toml"));
}

TEST_F(Init, RefusesAFolderInItsPlaceAndAProjectThatIsNotThere) {
  EXPECT_EQ(init(project_ / "nowhere"), 2);
  EXPECT_FALSE(fs::exists(project_ / "nowhere"));
  fs::create_directories(project_ / "guard.toml");
  EXPECT_EQ(init(project_, /*force=*/true), 2);
  EXPECT_THAT(err_, HasSubstr("is a folder"));
}

TEST_F(Init, RefusesTheSandboxFolder) {
  std::ofstream(project_ / "package.json") << "{}";
  fs::create_directories(project_ / "sandbox" / "deep");
  EXPECT_EQ(init(project_ / "sandbox" / "deep"), 2);
  EXPECT_THAT(err_, AllOf(HasSubstr("sandbox folder"), HasSubstr("guard init --project")));
  EXPECT_FALSE(fs::exists(project_ / "sandbox" / "deep" / "guard.toml"));
  EXPECT_FALSE(fs::exists(project_ / "guard.toml"));
}

TEST_F(Init, SaysWhatIsThereAndWhatIsMissing) {
  ASSERT_EQ(init(project_), 0);
  EXPECT_THAT(out_,
      AllOf(HasSubstr("no package.json"), HasSubstr("none yet"), HasSubstr("fix what will not work"),
          HasSubstr("guard doctor")));
  std::ofstream(project_ / "package.json") << "{}";
  ASSERT_EQ(init(project_, /*force=*/true), 0);
  EXPECT_THAT(out_, AllOf(Not(HasSubstr("no package.json")), Not(HasSubstr("will not work"))));
}

TEST_F(Init, WritesWhereTheTestsLie) {
  std::ofstream(project_ / "package.json") << "{}";
  fs::create_directories(project_ / "test");
  std::ofstream(project_ / "test/a.test.ts") << "import { test } from \"vitest\";";
  ASSERT_EQ(init(project_), 0) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("check.paths"), HasSubstr("1 import vitest")));
  const auto loaded = load_text(text(project_ / "guard.toml"));
  std::vector<std::string> wanted = Config().check.paths;
  wanted.push_back("test/**");
  EXPECT_EQ(loaded.config.check.paths, wanted);
  for (const auto& key : config_keys()) {
    EXPECT_EQ(loaded.find(key.dotted())->origin == "default", key.dotted() != "check.paths") << key.dotted();
  }
}

// ---- guard config show ----

TEST_F(Init, ConfigShowListsEveryKeyWithValueAndOrigin) {
  std::ofstream(project_ / "guard.toml") << "[limits]\nmemory = \"1g\"\n[run.env]\nTOKEN = \"hunter2-hunter2\"\n";
  ASSERT_EQ(show(OutputFormat::text), 0) << err_;
  for (const auto& key : config_keys()) EXPECT_THAT(out_, HasSubstr(key.dotted()));
  EXPECT_THAT(out_, ::testing::ContainsRegex("limits.memory +\"1g\" +guard.toml:2\n"));
  EXPECT_THAT(out_, ::testing::ContainsRegex("limits.pids +256 +default\n"));
  EXPECT_THAT(out_, HasSubstr("(the engine's default)"));
  EXPECT_THAT(out_, Not(HasSubstr("hunter2")));
}

TEST_F(Init, ConfigShowHasADocumentForMachines) {
  std::ofstream(project_ / "guard.toml") << "[host]\nenv = [\"PATH\"]\n[run.env]\nTOKEN = \"hunter2-hunter2\"\n";
  ASSERT_EQ(show(OutputFormat::json), 0) << err_;
  const auto root = nlohmann::json::parse(out_);
  EXPECT_EQ(root["version"], 1);
  EXPECT_THAT(root["file"].get<std::string>(), HasSubstr("guard.toml"));
  bool seen = false;
  for (const auto& entry : root["entries"]) {
    EXPECT_FALSE(entry["value"].is_discarded());
    if (entry["key"] != "host.env") continue;
    seen = true;
    EXPECT_EQ(entry["value"], nlohmann::json::array({"PATH"}));
    EXPECT_EQ(entry["origin"], "guard.toml:2");
  }
  EXPECT_TRUE(seen);
  EXPECT_THAT(out_, Not(HasSubstr("hunter2")));
}

TEST_F(Init, ConfigShowFailsOnABadFile) {
  std::ofstream(project_ / "guard.toml") << "[limits]\nmemroy = 1\n";
  EXPECT_EQ(show(OutputFormat::json), 2);
  EXPECT_THAT(out_, IsEmpty());
  EXPECT_THAT(err_, AllOf(HasSubstr("error: CONFIG_INVALID: guard.toml:2:1"), HasSubstr("did you mean `memory`?")));
  EXPECT_EQ(show(OutputFormat::text, project_ / "other.toml"), 2);
}

}  // namespace
}  // namespace guard
