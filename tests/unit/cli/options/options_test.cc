#include "cli/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/options/verbs.h"
#include "pipeline/config/config_keys.h"

namespace guard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ParsedCommand parse(const std::vector<std::string_view>& arguments) { return parse_command_line(arguments); }

Options parsed(const std::vector<std::string_view>& arguments) {
  auto command = parse(arguments);
  if (const auto* answer = std::get_if<Answer>(&command)) {
    ADD_FAILURE() << answer->out << answer->err;
    return {};
  }
  const auto& options = std::get<Options>(command);
  EXPECT_EQ(options.verb->name, arguments[0]);
  return options;
}

// The message of a mistake; every mistake exits 64, says one thing and what to do, and leaves standard output alone.
std::string usage_mistake(const std::vector<std::string_view>& arguments) {
  auto command = parse(arguments);
  const auto* answer = std::get_if<Answer>(&command);
  if (answer == nullptr) return "(parsed)";
  EXPECT_EQ(answer->exit_status, 64);
  EXPECT_THAT(answer->out, IsEmpty());
  EXPECT_THAT(answer->err, AllOf(HasSubstr("error: USAGE: "), HasSubstr("\n  hint: ")));
  for (const char c : answer->err) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << answer->err;
  return answer->err;
}

std::string help(const std::vector<std::string_view>& arguments) {
  auto command = parse(arguments);
  const auto* answer = std::get_if<Answer>(&command);
  if (answer == nullptr) return "(parsed)";
  EXPECT_EQ(answer->exit_status, 0);
  EXPECT_THAT(answer->err, IsEmpty());
  return answer->out;
}

std::string override_of(const std::vector<ConfigOverride>& overrides, std::string_view key) {
  std::string text = "(none)";
  for (const auto& given : overrides) {
    if (given.key == key) text = given.text.value_or("(inherited)");
  }
  return text;
}

// ---- guard check ----

TEST(Options, CheckTakesPathsAndOptionsInAnyOrder) {
  const auto options = parsed({"check", "a.ts", "--mode", "host", "b.ts", "--format=json", "c d.ts", "--color", "never",
      "--allow-empty", "--jobs", "3"});
  EXPECT_THAT(options.arguments, ElementsAre("a.ts", "b.ts", "c d.ts"));
  EXPECT_EQ(options.mode, "host");
  EXPECT_EQ(options.format, OutputFormat::json);
  EXPECT_EQ(options.color, ColorChoice::never);
  EXPECT_TRUE(options.allow_empty);
  EXPECT_EQ(options.jobs, 3U);
  EXPECT_FALSE(options.staged);
  EXPECT_FALSE(options.read_stdin);
}

TEST(Options, CheckAndRunReportInEveryFormatAndExecInTwo) {
  const std::vector<std::pair<std::string_view, OutputFormat>> formats = {{"text", OutputFormat::text},
      {"json", OutputFormat::json}, {"sarif", OutputFormat::sarif}, {"junit", OutputFormat::junit},
      {"github", OutputFormat::github}};
  for (const auto& [name, format] : formats) {
    EXPECT_EQ(parsed({"check", "--format", name}).format, format);
    EXPECT_EQ(parsed({"run", "a.ts", "--format", name}).format, format);
  }
  EXPECT_EQ(parsed({"exec", "--format", "json", "--", "x"}).format, OutputFormat::json);
  EXPECT_THAT(usage_mistake({"exec", "--format", "sarif", "--", "x"}), HasSubstr("no findings to report"));
  EXPECT_THAT(usage_mistake({"doctor", "--format", "sarif"}), HasSubstr("--format"));
}

TEST(Options, ExplainTakesAFileAndPerhapsALine) {
  const auto line = parsed({"check", "--explain", "sandbox/a:b.ts:12", "sandbox"});
  EXPECT_EQ(line.explain, "sandbox/a:b.ts");
  EXPECT_EQ(line.explain_line, 12U);
  EXPECT_THAT(line.arguments, ElementsAre("sandbox"));
  const auto file = parsed({"check", "--explain", "sandbox/a:b.ts"});
  EXPECT_EQ(file.explain, "sandbox/a:b.ts");
  EXPECT_EQ(file.explain_line, 0U);
  EXPECT_EQ(parsed({"check"}).explain, "");
  EXPECT_THAT(usage_mistake({"check", "--explain", "a.ts:0"}), HasSubstr("no line 0"));
  EXPECT_THAT(usage_mistake({"check", "--explain", "a.ts:99999999999"}), HasSubstr("no line"));
  EXPECT_THAT(usage_mistake({"check", "--explain", ":3"}), HasSubstr("needs a file"));
  EXPECT_THAT(usage_mistake({"check", "--explain", "a.ts", "--staged"}), HasSubstr("exclude each other"));
  EXPECT_THAT(usage_mistake({"check", "--explain", "a.ts", "--print-waiver"}), HasSubstr("exclude each other"));
  EXPECT_THAT(usage_mistake({"check", "--explain", "a.ts", "-"}), HasSubstr("not standard input"));
  EXPECT_THAT(usage_mistake({"check", "--explain", "a.ts", "--format", "sarif"}), HasSubstr("text or json"));
}

TEST(Options, WaiversArePrintedAsTomlAlone) {
  EXPECT_TRUE(parsed({"check", "--print-waiver"}).print_waiver);
  EXPECT_FALSE(parsed({"check"}).print_waiver);
  EXPECT_THAT(usage_mistake({"check", "--print-waiver", "--format", "json"}), HasSubstr("TOML"));
}

TEST(Options, TheRulesPageTakesNoArgument) {
  EXPECT_EQ(parsed({"rules", "doc"}).action, Action::doc);
  EXPECT_THAT(usage_mistake({"rules", "doc", "x"}), HasSubstr("takes no argument"));
}

TEST(Options, CheckHasCarefulDefaults) {
  const auto options = parsed({"check"});
  EXPECT_THAT(options.arguments, IsEmpty());
  EXPECT_EQ(options.mode, "auto");
  EXPECT_EQ(options.format, OutputFormat::text);
  EXPECT_FALSE(options.allow_empty);
  EXPECT_EQ(options.config, "");
}

TEST(Options, CheckReadsStandardInputForALoneDash) {
  const auto options = parsed({"check", "-", "--stdin-name", "sandbox/new.test.ts"});
  EXPECT_TRUE(options.read_stdin);
  EXPECT_THAT(options.arguments, IsEmpty());
  EXPECT_EQ(options.stdin_name, "sandbox/new.test.ts");
  EXPECT_THAT(usage_mistake({"check", "-", "a.ts"}), HasSubstr("no other PATH"));
  EXPECT_THAT(usage_mistake({"check", "a.ts", "--stdin-name", "b.ts"}), HasSubstr("not read"));
}

TEST(Options, JobsAreAFewThreads) {
  for (const char* jobs : {"0", "257", "-1", "1x", ""}) {
    EXPECT_THAT(usage_mistake({"check", "a.ts", "--jobs", jobs}), HasSubstr("--jobs")) << jobs;
  }
}

TEST(Options, StagedExcludesPaths) {
  EXPECT_TRUE(parsed({"check", "--staged", "--config", "../guard.toml"}).staged);
  EXPECT_THAT(usage_mistake({"check", "--staged", "a.ts"}), HasSubstr("--staged"));
  EXPECT_THAT(usage_mistake({"check", "--staged", "-"}), HasSubstr("--staged"));
}

// What a checker is given is what it must look at, to the byte.
TEST(Options, HostileNamesArriveAsTheyAre) {
  const std::string long_name(200'000, 'x');
  const std::vector<std::string_view> names = {"$(touch x).test.ts", "`id`.ts", "[slug]", "[a,b]", "{a,b}.ts",
      "%s%n.ts", "a\nb.ts", "\xff\xfe.ts", "a=b.ts", "*.ts", "~/x.ts", "a;rm -rf b.ts", "\"q\".ts", "'",
      "--=x.ts\x1b[2J", "@file", "", long_name};
  for (const auto name : names) {
    if (name.empty() || name.starts_with("-")) continue;
    EXPECT_THAT(parsed({"check", name}).arguments, ElementsAre(std::string(name)));
    EXPECT_THAT(parsed({"run", name, "--quiet"}).arguments, ElementsAre(std::string(name)));
    EXPECT_EQ(parsed({"check", "--config", name}).config, name);
    EXPECT_EQ(parsed({"check", "--config=" + std::string(name)}).config, name);
  }
  for (const auto name : names) {
    if (name.empty()) continue;
    EXPECT_THAT(parsed({"check", "--", name}).arguments, ElementsAre(std::string(name)));
  }
}

TEST(Options, DashesEndOptions) {
  EXPECT_THAT(parsed({"check", "a.ts", "--", "--staged", "-x.ts", "--", "-"}).arguments,
      ElementsAre("a.ts", "--staged", "-x.ts", "--", "-"));
  EXPECT_FALSE(parsed({"check", "--", "-"}).read_stdin);
  EXPECT_THAT(parsed({"check", "--", "--help"}).arguments, ElementsAre("--help"));
}

TEST(Options, RecordsAreKeptAndVerified) {
  EXPECT_EQ(parsed({"run", "a.ts", "--record", "evidence/"}).record, "evidence/");
  EXPECT_EQ(parsed({"exec", "--record", "r.json", "--", "bun"}).record, "r.json");
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--record="}), HasSubstr("--record has an empty value"));
  const auto options =
      parsed({"verify", "r.json", "--project", "p", "--rules", "r", "--config", "c", "--format", "json"});
  EXPECT_THAT(options.arguments, ElementsAre("r.json"));
  EXPECT_EQ(options.project + options.rules + options.config, "prc");
  EXPECT_EQ(options.format, OutputFormat::json);
  EXPECT_THAT(usage_mistake({"verify"}), HasSubstr("needs the record"));
  EXPECT_THAT(usage_mistake({"verify", "a.json", "b.json"}), HasSubstr("one record at a time"));
  EXPECT_THAT(usage_mistake({"verify", "a.json", "--format", "sarif"}), HasSubstr("--format"));
}

TEST(Options, EmptyArgumentsAreMistakes) {
  EXPECT_THAT(usage_mistake({"check", ""}), HasSubstr("empty"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", ""}), HasSubstr("empty"));
  EXPECT_THAT(usage_mistake({"check", "--config", ""}), HasSubstr("--config has an empty value"));
  EXPECT_THAT(usage_mistake({"check", "--config="}), HasSubstr("--config has an empty value"));
  EXPECT_THAT(usage_mistake({"", "a.ts"}), HasSubstr("unknown verb"));
  EXPECT_THAT(usage_mistake({"exec", "--", ""}), HasSubstr("empty"));
}

// ---- mistakes ----

TEST(Options, UnknownVerbsAndOptionsComeWithASuggestion) {
  EXPECT_THAT(usage_mistake({"chekc", "a.ts"}), HasSubstr("did you mean `guard check`?"));
  EXPECT_THAT(usage_mistake({"check", "--stagde"}), HasSubstr("did you mean --staged?"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--tiemout", "3"}), HasSubstr("did you mean --timeout?"));
  EXPECT_THAT(usage_mistake({"check", "-x.ts"}), HasSubstr("behind `--`"));
  EXPECT_THAT(usage_mistake({"--staged"}), HasSubstr("behind the verb"));
  EXPECT_THAT(usage_mistake({"check", "--mode", "dokcer"}), HasSubstr("did you mean docker?"));
  EXPECT_THAT(usage_mistake({"rules", "lst"}), HasSubstr("did you mean `guard rules list`?"));
  EXPECT_THAT(usage_mistake({"image"}), AllOf(HasSubstr("guard image build"), HasSubstr("guard image prune")));
  EXPECT_THAT(usage_mistake({"help", "rn"}), HasSubstr("did you mean `guard run`?"));
}

TEST(Options, OptionsAreNeverAbbreviatedOrGuessed) {
  EXPECT_THAT(usage_mistake({"check", "--stage"}), HasSubstr("unknown option"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--Memory", "1g"}), HasSubstr("unknown option"));
  EXPECT_THAT(usage_mistake({"check", "--staged=yes"}), HasSubstr("takes no value"));
  EXPECT_THAT(usage_mistake({"check", "--mode"}), HasSubstr("needs a value"));
  EXPECT_THAT(usage_mistake({"check", "--mode", "--staged"}), HasSubstr("needs a value"));
  EXPECT_THAT(usage_mistake({"check", "--mode", "host", "--mode", "docker", "a"}), HasSubstr("given twice"));
  EXPECT_THAT(usage_mistake({"check", "--staged", "--staged"}), HasSubstr("given twice"));
}

TEST(Options, HostileTextInMistakesIsPrintableAndShort) {
  EXPECT_LT(usage_mistake({std::string("\x1b]0;x\x07") + std::string(100'000, 'x')}).size(), 400U);
  EXPECT_LT(usage_mistake({"check", "--\x1b[31m" + std::string(100'000, 'x')}).size(), 400U);
  EXPECT_THAT(usage_mistake({"check", "--mode", "\n\xff"}), HasSubstr("\\n\\xff"));
}

// ---- guard run, guard exec ----

TEST(Options, RunTurnsItsOptionsIntoOverrides) {
  const auto options = parsed({"run", "--backend", "docker", "--timeout", "60", "sandbox/a.test.ts", "--memory=512m",
      "--cpus", "1.5", "--pids", "64", "--image", "tests:1", "--mask-env", "A,B", "--mask-env", "C", "--env", "TZ=UTC",
      "--env", "TOKEN", "--env", "X==,y", "--quiet", "--collect", "all"});
  EXPECT_THAT(options.arguments, ElementsAre("sandbox/a.test.ts"));
  EXPECT_EQ(options.backend, Backend::docker);
  EXPECT_TRUE(options.quiet);
  const auto& overrides = options.overrides;
  EXPECT_EQ(override_of(overrides, "limits.timeout"), "60");
  EXPECT_EQ(override_of(overrides, "limits.memory"), "512m");
  EXPECT_EQ(override_of(overrides, "limits.cpus"), "1.5");
  EXPECT_EQ(override_of(overrides, "limits.pids"), "64");
  EXPECT_EQ(override_of(overrides, "docker.image"), "tests:1");
  EXPECT_EQ(override_of(overrides, "run.collect"), "all");
  EXPECT_EQ(override_of(overrides, "run.env.TZ"), "UTC");
  EXPECT_EQ(override_of(overrides, "run.env.TOKEN"), "(inherited)");
  EXPECT_EQ(override_of(overrides, "run.env.X"), "=,y");

  ConfigSources sources;
  sources.overrides = overrides;
  const auto loaded = load_config(sources);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->config.host.timeout, std::chrono::seconds(60));
  EXPECT_EQ(loaded->config.limits.memory_bytes, 512U << 20);
  EXPECT_THAT(loaded->config.redact.mask_env, ElementsAre("A", "B", "C"));
  EXPECT_EQ(loaded->find("limits.memory")->origin, "option --memory");
}

TEST(Options, WithoutABackendTheChoiceIsLeftToTheConfiguration) {
  EXPECT_EQ(parsed({"run", "a.ts"}).backend, std::nullopt);
  EXPECT_EQ(parsed({"run", "a.ts", "--backend", "auto"}).backend, std::nullopt);
  EXPECT_EQ(parsed({"run", "a.ts", "--backend", "host"}).backend, Backend::host);
  EXPECT_THAT(parsed({"run", "a.ts"}).overrides, IsEmpty());
}

TEST(Options, ValuesAreCheckedWhileTheyAreStillAMistakeOfUsage) {
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--memory", "banana"}), HasSubstr("--memory: limits.memory must be"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--timeout", "0"}), HasSubstr("--timeout: limits.timeout must be"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--timeout", "-5"}), HasSubstr("must be"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--cpus", "nan"}), HasSubstr("must be"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--pids", "1"}), HasSubstr("must be"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--collect", "some"}), HasSubstr("--collect"));
  EXPECT_THAT(usage_mistake({"exec", "--collect", "all", "--", "ls"}),
      HasSubstr("--collect"));  // what a command writes is never kept
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--image", "-v"}), HasSubstr("is not a name"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--env", "A B=1"}), HasSubstr("is not the name"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--env", "=1"}), HasSubstr("is not the name"));
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--mask-env", "A,,B"}), HasSubstr("is not the name"));
}

TEST(Options, RunWithoutNamesMeansTheWholeProject) {
  EXPECT_TRUE(parsed({"run"}).arguments.empty());
  EXPECT_TRUE(parsed({"run", "--quiet"}).arguments.empty());
}

// What --env passes is a secret as often as not.
TEST(Options, AMistakeInEnvDoesNotPrintTheValue) {
  EXPECT_THAT(usage_mistake({"run", "a.ts", "--env", "1BAD=hunter2-hunter2"}), ::testing::Not(HasSubstr("hunter2")));
}

TEST(Options, ExecTakesItsCommandOnlyBehindDashes) {
  const auto options =
      parsed({"exec", "--memory", "1g", "--", "sh", "-c", "echo $HOME", "--memory", "", "--help", "--"});
  EXPECT_THAT(options.arguments, ElementsAre("sh", "-c", "echo $HOME", "--memory", "", "--help", "--"));
  EXPECT_EQ(override_of(options.overrides, "limits.memory"), "1g");
  EXPECT_THAT(usage_mistake({"exec", "ls", "--memory", "1g"}), HasSubstr("before `--`"));
  EXPECT_THAT(usage_mistake({"exec"}), HasSubstr("needs a command"));
  EXPECT_THAT(usage_mistake({"exec", "--"}), HasSubstr("needs a command"));
}

// ---- the other verbs ----

TEST(Options, TheOtherVerbsAreParsed) {
  EXPECT_EQ(parsed({"image", "build", "--project", "x"}).project, "x");
  EXPECT_EQ(parsed({"image", "--engine", "build"}).target, ImageTarget::engine);
  EXPECT_EQ(parsed({"image", "prune", "--all"}).action, Action::prune);
  EXPECT_TRUE(parsed({"image", "prune", "--all", "--force"}).force);
  EXPECT_THAT(usage_mistake({"image", "prune", "--force"}), HasSubstr("--all"));
  EXPECT_THAT(usage_mistake({"image", "build", "--dry-run"}), HasSubstr("guard image prune"));
  EXPECT_THAT(usage_mistake({"image", "build", "--engine", "--root-folder"}), HasSubstr("exclude each other"));
  EXPECT_THAT(usage_mistake({"image", "build", "x"}), HasSubstr("--template"));
  EXPECT_THAT(usage_mistake({"image", "build", "--template", "python"}), HasSubstr("the name of the image"));
  EXPECT_THAT(usage_mistake({"image", "build", "--template", "ruby", "x"}), HasSubstr("python"));
  EXPECT_THAT(usage_mistake({"image", "build", "--package", "gcc"}), HasSubstr("--template"));
  EXPECT_EQ(
      parsed({"image", "build", "--template", "node", "x", "--package", "a", "--package", "b"}).packages.size(), 2u);
  EXPECT_THAT(usage_mistake({"image", "import", "x"}), HasSubstr("what the image is to be made of"));
  EXPECT_EQ(parsed({"image", "import", "x", "y.tar"}).arguments.size(), 2u);
  EXPECT_THAT(usage_mistake({"image", "remove"}), HasSubstr("needs the name"));
  EXPECT_EQ(parsed({"rules", "list", "--format", "json"}).format, OutputFormat::json);
  EXPECT_THAT(parsed({"rules", "show", "always.env_dump"}).arguments, ElementsAre("always.env_dump"));
  EXPECT_THAT(parsed({"rules", "check", "mine"}).arguments, ElementsAre("mine"));
  EXPECT_THAT(parsed({"rules", "check"}).arguments, IsEmpty());
  EXPECT_THAT(usage_mistake({"rules", "show"}), HasSubstr("id of a rule"));
  EXPECT_THAT(usage_mistake({"rules", "show", "a", "b"}), HasSubstr("takes no argument"));
  EXPECT_THAT(usage_mistake({"rules", "check", ""}), HasSubstr("empty"));
  EXPECT_EQ(parsed({"doctor", "--format=json"}).format, OutputFormat::json);
  EXPECT_THAT(usage_mistake({"doctor", "now"}), HasSubstr("takes no argument"));
  EXPECT_EQ(parsed({"config", "show", "--config", "g.toml"}).config, "g.toml");
  EXPECT_THAT(usage_mistake({"config", "set"}), HasSubstr("guard config has no \"set\""));
  EXPECT_TRUE(parsed({"init", "--force"}).force);
  EXPECT_EQ(parsed({"clean"}).format, OutputFormat::text);
}

TEST(Options, HookActionsTakeTheirOwnOptionsOnly) {
  EXPECT_EQ(parsed({"hook", "install"}).action, Action::install);
  EXPECT_EQ(parsed({"hook", "uninstall", "--project", "p"}).project, "p");
  EXPECT_EQ(parsed({"hook", "status", "--format", "json"}).format, OutputFormat::json);
  const auto agent = parsed({"hook", "agent", "--mode", "docker", "--config", "c", "--rules", "r"});
  EXPECT_EQ(agent.action, Action::agent);
  EXPECT_EQ(agent.mode, "docker");
  EXPECT_EQ(agent.config, "c");
  EXPECT_EQ(agent.rules, "r");
  EXPECT_THAT(usage_mistake({"hook"}), HasSubstr("guard hook install"));
  EXPECT_THAT(usage_mistake({"hook", "instal"}), HasSubstr("did you mean"));
  EXPECT_THAT(usage_mistake({"hook", "install", "--mode", "docker"}), HasSubstr("guard hook agent"));
  EXPECT_THAT(usage_mistake({"hook", "agent", "--format", "json"}), HasSubstr("--format"));
  EXPECT_THAT(usage_mistake({"hook", "install", "x"}), HasSubstr("takes no argument"));
}

TEST(Options, RulesViewsNeedsAFile) {
  EXPECT_THAT(parsed({"rules", "views", "a.ts"}).arguments, ElementsAre("a.ts"));
  EXPECT_THAT(usage_mistake({"rules", "views"}), HasSubstr("needs a file"));
}

TEST(Options, RedactKnowsItsCap) {
  const auto options = parsed({"redact", "a.log", "-", "--cap", "80k", "--stats", "--mask-env=X"});
  EXPECT_THAT(options.arguments, ElementsAre("a.log", "-"));
  EXPECT_EQ(options.cap_bytes, 81'920U);
  EXPECT_TRUE(options.stats);
  EXPECT_EQ(options.overrides.size(), 1U);
  EXPECT_EQ(parsed({"redact"}).cap_bytes, 0U);
  EXPECT_EQ(parsed({"redact", "--cap", "0"}).cap_bytes, 0U);  // none
  EXPECT_THAT(usage_mistake({"redact", "--cap", "80x"}), HasSubstr("--cap"));
}

// ---- help ----

TEST(Options, GuardAloneSaysHowItIsUsed) {
  auto command = parse({});
  const auto& answer = std::get<Answer>(command);
  EXPECT_EQ(answer.exit_status, 64);
  EXPECT_THAT(answer.out, IsEmpty());
  EXPECT_THAT(answer.err, HasSubstr("usage: guard VERB"));
}

TEST(Options, GateJudgesTheWorkTreeOfATestTaskUnlessToldOtherwise) {
  const auto plain = parsed({"gate"});
  EXPECT_EQ(plain.base, "");
  EXPECT_FALSE(plain.staged);
  EXPECT_EQ(plain.kind, std::nullopt);  // a test
  EXPECT_FALSE(plain.allow_empty);
  const auto all = parsed({"gate", "--base=v1", "--head", "topic", "--task-kind", "any", "--mode=docker", "--format",
      "sarif", "--allow-empty"});
  EXPECT_EQ(all.base, "v1");
  EXPECT_EQ(all.head, "topic");
  EXPECT_EQ(all.kind, TaskKind::any);
  EXPECT_EQ(all.mode, "docker");
  EXPECT_EQ(all.format, OutputFormat::sarif);
  EXPECT_TRUE(all.allow_empty);
  EXPECT_EQ(parsed({"gate", "--patch", "-"}).patch, "-");
  EXPECT_TRUE(parsed({"gate", "--staged"}).staged);
}

TEST(Options, HelpTeachesEveryVerb) {
  EXPECT_THAT(help({"--version"}), ::testing::StartsWith("guard 0."));
  EXPECT_EQ(help({"--help"}), help({"help"}));
  for (const auto& row : verbs()) {
    EXPECT_THAT(help({"help"}), HasSubstr(std::string(row.summary)));
    const std::string text = help({"help", row.name});
    EXPECT_EQ(text, help({row.name, "--help"}));
    EXPECT_EQ(text, help({row.name, "--no-such-option", "-h"}));
    EXPECT_THAT(text, AllOf(HasSubstr("Usage:"), HasSubstr("Examples:"), HasSubstr("Exit status:")));
    for (const auto& option : row.options) EXPECT_THAT(text, HasSubstr(std::string(option.name)));
    // 80 columns would cut the sentences; 132 is what wide terminals and pagers show without wrapping.
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(end - at, 132U) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

// Examples that do not work teach the wrong thing.
TEST(Options, EveryExampleInTheHelpIsAccepted) {
  for (const auto& row : verbs()) {
    std::string text(row.examples);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      std::vector<std::string> words;
      for (std::size_t begin = line.find("guard ") + 6; begin < line.size();) {
        const std::size_t stop = std::min(line.find(' ', begin), line.size());
        words.push_back(line.substr(begin, stop - begin));
        begin = stop + 1;
      }
      // What the shell does with the output is none of it.
      words.erase(
          std::find_if(words.begin(), words.end(), [](const std::string& word) { return word == "|" || word == ">"; }),
          words.end());
      const auto command = parse({words.begin(), words.end()});
      const auto* answer = std::get_if<Answer>(&command);
      EXPECT_EQ(answer, nullptr) << line;
    }
  }
}

TEST(Options, EveryKeyThatAnOptionSetsExists) {
  for (const auto& row : verbs()) {
    std::set<std::string_view> names;
    for (const auto& option : row.options) {
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
      EXPECT_TRUE(option.key.empty() || find_config_key(option.key) != nullptr) << option.key;
      EXPECT_NE(option.key.empty(), std::holds_alternative<std::monostate>(option.into)) << option.name;
    }
  }
}

}  // namespace
}  // namespace guard
