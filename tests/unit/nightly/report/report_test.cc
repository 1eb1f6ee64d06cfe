#include "nightly/report/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "common/file_io.h"
#include "nightly/report/escapes.h"
#include "nightly/report/report_view.h"
#include "tests/support/nightly/sample_night.h"

namespace guard::nightly {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::sample_attempt;
using testing::sample_night;
using ::testing::StartsWith;

constexpr std::string_view kKnown = "correct-horse-battery-staple";

const SecretSource& secrets() {
  static const SecretSource source = std::move(*SecretSource::shipped({{"TOKEN", std::string(kKnown)}}));
  return source;
}

std::string render(const ReportInput& input, ReportFormat format, Colour colour = Colour::off) {
  auto text = render_report(input, format, secrets(), colour);
  EXPECT_TRUE(text) << text.error().to_string();
  return text ? std::move(*text) : std::string();
}

// Every text of a night that a report shows or could show. plan_text is shown by none.
void for_each_text(ReportInput& input, const std::function<void(std::string&)>& visit) {
  for (std::string* text :
      {&input.night.id, &input.night.reason, &input.night.why, &input.night.plan_name, &input.night.plan_text,
          &input.night.base, &input.night.branch, &input.night.rules_digest, &input.night.guard_version})
    visit(*text);
  for (auto& task : input.tasks) {
    for (std::string* text : {&task.night, &task.prompt, &task.reason, &task.detail, &task.commit, &task.note})
      visit(*text);
  }
  for (auto& attempt : input.attempts) {
    for (std::string* text : {&attempt.night, &attempt.reason, &attempt.detail, &attempt.start, &attempt.tip,
             &attempt.commit, &attempt.backend, &attempt.evidence, &attempt.evidence_sha256, &attempt.output,
             &attempt.kept, &attempt.feedback, &attempt.diff, &attempt.generator, &attempt.generator_said}) {
      visit(*text);
    }
    for (auto& file : attempt.files) visit(file);
    for (auto& test : attempt.flaky) visit(test);
    for (auto& finding : attempt.findings) {
      for (std::string* text :
          {&finding.rule, &finding.tier, &finding.path, &finding.message, &finding.fix, &finding.excerpt})
        visit(*text);
    }
    for (auto& timing : attempt.timings_ms) visit(timing.first);
  }
  for (auto& row : input.rules) visit(row.rule);
  for (auto& row : input.trend) visit(row.night);
  for (auto& row : input.flakes) {
    visit(row.test);
    visit(row.last_night);
  }
  visit(input.state_folder);
}

// A night in which every field has something to say, `words` in each text.
ReportInput night_saying(const std::string& words) {
  ReportInput input = sample_night(10);
  for (auto& task : input.tasks) task.note = "note";
  for (auto& attempt : input.attempts) {
    attempt.flaky = {"a > b"};
    attempt.kept = attempt.evidence = attempt.evidence_sha256 = attempt.feedback = attempt.diff = "x";
    if (attempt.findings.empty()) attempt.findings = {{"r", "t", "p", 1, "m", "f", "e"}};
    attempt.outcome = AttemptOutcome::refused;
  }
  input.night.why = "why";
  input.night.reason = "reason";
  for_each_text(input, [&](std::string& text) { text = words; });
  // An id joins attempts to tasks. The number stands first: what stands behind a secret may go with it.
  for (std::size_t i = 0; i < input.tasks.size(); ++i) {
    for (auto& attempt : input.attempts) {
      if (attempt.task == input.tasks[i].id) attempt.task = std::to_string(i) + words;
    }
    input.tasks[i].id = std::to_string(i) + words;
  }
  return input;
}

const std::string& hostile() {
  static const std::string words =
      std::string(
          "</pre></title></style><script src=//x>alert(1)</script><img onerror=x>\" onload='x' &lt; ]]> --> "
          "\x1b[31m\x1b]0;t\x07 \xe2\x80\xae\xe2\x81\xa6 \xff\xfe \r x\n") +
      "# heading\n- | `code` ``` [a](javascript:x) ![i](x) **b** __c__ ~~d~~ @person #12 https://x.example "
      "www.x.example $x$ \\| <details>\n\n| a | b |\n::error::x\n" +
      std::string("\0", 1) + std::string(kKnown) + " " + "sk-ant-" + "api03-" + std::string(93, 'A') + "AA";
  return words;
}

// The tags of a page, in order, with their attributes' names: what the words in it must not change.
struct Tag {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
};

// A strict reader: whatever is no tag that we write ourselves fails the test.
std::vector<Tag> tags_of(std::string_view page) {
  std::vector<Tag> tags;
  std::vector<std::string> open;
  static const std::set<std::string, std::less<>> kVoid = {"meta", "br", "!doctype"};
  static const std::set<std::string, std::less<>> kClosedItself = {"rect", "line"};
  std::size_t at = 0;
  while ((at = page.find('<', at)) != std::string_view::npos) {
    std::size_t i = at + 1;
    const bool closes = page[i] == '/';
    if (closes) ++i;
    Tag tag;
    while (i < page.size() && (std::isalnum(static_cast<unsigned char>(page[i])) != 0 || page[i] == '!'))
      tag.name += page[i++];
    if (tag.name.empty()) {
      ADD_FAILURE() << "a bare < at: " << page.substr(at, 80);
      return tags;
    }
    bool self = false;
    while (i < page.size() && page[i] != '>') {
      if (page[i] == ' ') {
        ++i;
        continue;
      }
      if (page[i] == '/') {
        self = true;
        ++i;
        continue;
      }
      std::string name, value;
      while (i < page.size() && (std::isalnum(static_cast<unsigned char>(page[i])) != 0 || page[i] == '-'))
        name += page[i++];
      if (name.empty()) {
        ADD_FAILURE() << "no attribute at: " << page.substr(i, 80);
        return tags;
      }
      if (i < page.size() && page[i] == '=') {
        EXPECT_EQ(page[i + 1], '"');
        const std::size_t end = page.find('"', i + 2);
        value = page.substr(i + 2, end - i - 2);
        i = end + 1;
      }
      tag.attributes.emplace_back(std::move(name), std::move(value));
    }
    at = i + 1;
    if (closes) {
      EXPECT_FALSE(open.empty());
      if (open.empty()) return tags;
      EXPECT_EQ(open.back(), tag.name) << page.substr(at > 200 ? at - 200 : 0, 300);
      open.pop_back();
      tags.push_back({"/" + tag.name, {}});
      continue;
    }
    if (tag.name == "style") at = page.find("</style>", at);
    EXPECT_TRUE(!self || kClosedItself.count(tag.name) == 1) << tag.name;
    if (!self && kVoid.count(tag.name) == 0) open.push_back(tag.name);
    tags.push_back(std::move(tag));
  }
  EXPECT_THAT(open, IsEmpty());
  return tags;
}

std::string shape_of(const std::vector<Tag>& tags) {
  std::string shape;
  for (const auto& tag : tags) {
    shape += "<" + tag.name;
    for (const auto& [name, value] : tag.attributes) {
      shape += " " + name;
      if (name == "class") shape += "=" + value;
    }
    shape += ">\n";
  }
  return shape;
}

void expect_no_secret(std::string_view text) {
  EXPECT_EQ(text.find(kKnown), std::string_view::npos);
  EXPECT_EQ(text.find(std::string(40, 'A')), std::string_view::npos);
}

// Nothing that a terminal, an editor or a browser acts on but line ends (and tabs, where they are kept).
void expect_harmless(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') continue;
    ASSERT_TRUE(byte >= 0x20 && byte != 0x7f)
        << "byte " << int{byte} << " in: " << text.substr(i > 60 ? i - 60 : 0, 120);
  }
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string_view::npos);
  EXPECT_EQ(text.find("\xe2\x81\xa6"), std::string_view::npos);
  EXPECT_EQ(text.find('\xff'), std::string_view::npos);
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ReportPage, KeepsItsShapeWhateverTheWordsSay) {
  const ReportInput plain = night_saying([] {
    std::string text;
    while (text.size() < 700) text += "word ";
    return text;
  }());  // as long: a short reason is not told twice
  std::string words = hostile();
  std::replace(words.begin(), words.end(), '\n', ' ');     // a line of a diff is an element of its own
  std::replace(words.begin(), words.end(), '\0', '\x01');  // a path that no file can have is no link
  const std::string page = render(night_saying(words), ReportFormat::html);
  expect_harmless(page);
  expect_no_secret(page);
  EXPECT_THAT(page, HasSubstr("[REDACTED:env:TOKEN]"));
  const auto tags = tags_of(page);
  EXPECT_EQ(shape_of(tags), shape_of(tags_of(render(plain, ReportFormat::html))));
}

TEST(ReportPage, HoldsNothingThatActs) {
  for (const std::string& words : {std::string("word"), hostile(), std::string("javascript:alert(1)"),
           std::string("../../etc/passwd"), std::string("//host/x"), std::string("data:text/html,x")}) {
    const std::string page = render(night_saying(words), ReportFormat::html);
    expect_harmless(page);
    expect_no_secret(page);
    static const std::set<std::string, std::less<>> kTags = {"!doctype", "html", "head", "meta", "title", "style",
        "body", "header", "main", "footer", "section", "h1", "h2", "h3", "p", "ul", "li", "a", "b", "br", "span",
        "small", "code", "pre", "ol", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "div", "dl",
        "dt", "dd", "figure", "figcaption", "svg", "g", "rect", "line", "text"};
    for (const auto& tag : tags_of(page)) {
      if (tag.name[0] == '/') continue;
      EXPECT_EQ(kTags.count(tag.name), 1u) << tag.name;
      for (const auto& [name, value] : tag.attributes) {
        EXPECT_FALSE(name.starts_with("on") || name == "style" || name == "src" || name == "srcset")
            << tag.name << " " << name;
        EXPECT_TRUE(name != "href" || value.starts_with("#")) << "the page is mailed: " << value;
      }
    }
  }
}

TEST(ReportPage, ForbidsScriptsAndTheNetwork) {
  const std::string page = render(sample_night(3), ReportFormat::html);
  EXPECT_THAT(page, StartsWith("<!doctype html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

std::vector<std::string> values_of(const std::vector<Tag>& tags, std::string_view wanted) {
  std::vector<std::string> values;
  for (const auto& tag : tags) {
    for (const auto& [name, value] : tag.attributes) {
      if (name == wanted) values.push_back(value);
    }
  }
  return values;
}

TEST(ReportPage, LeadsEverywhereItSays) {
  const auto tags = tags_of(render(sample_night(40), ReportFormat::html));
  const auto ids = values_of(tags, "id");
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size()) << "an id stands twice";
  for (const auto& target : values_of(tags, "href")) {
    EXPECT_TRUE(target[0] != '#' || std::find(ids.begin(), ids.end(), target.substr(1)) != ids.end()) << target;
  }
}

TEST(ReportPage, ShowsWhatAPersonNeeds) {
  const std::string page = render(sample_night(10), ReportFormat::html);
  for (const std::string_view words : {
           "<title>guard: night 2026-11-22T2200-1a2b</title>",
           "1 attempt ran on the host, without a sandbox.",
           "1 task went to the host by the roll-out.",
           "1 attempt requeued: the sandbox could not decide",
           "4 clones kept on the disk",
           "<a href=\"#accepted\"><b class=\"c-accepted\">7</b><span>accepted</span></a>",
           "<b class=\"c-refused\">2</b>",
           "<span class=\"da\">+import { describe, expect, test } from &quot;bun:test&quot;;\n</span>",
           "<span class=\"dd\">-  pairs: 100,\n</span>",
           "<span class=\"dm\">+++ b/sandbox/parse-query-0.test.ts\n</span>",
           "<b>sandbox/cart-total-3.test.ts:14</b>: starts a process",
           "<b>Instead:</b> call the function under test",
           "<dt>generator</dt><dd>timed out</dd>",
           "5 of 6 broken versions noticed",
           "41 lines of src/, 12 of them not covered before",
           "sandbox/retry-after.test.ts &gt; waits as long as the header says",
           "requeued 1 time",
           "host.child_process",
           "<pre class=\"wrap\">Write tests for src/parse-query.ts.\n\nCover",
           "What the next attempt was told",
       }) {
    EXPECT_THAT(page, HasSubstr(words));
  }
}

TEST(ReportPage, HoldsAThousandTasksAndEndsSomewhere) {
  ReportInput input = sample_night(1'000);
  for (auto& attempt : input.attempts)
    attempt.diff = "diff --git a/x b/x\n@@ -1 +1 @@\n" + std::string(12'000, '+') + "\n";
  const std::string page = render(input, ReportFormat::html);
  const auto tags = tags_of(page);
  EXPECT_EQ(std::count_if(
                tags.begin(), tags.end(), [](const Tag& tag) { return tag.name == "tr" && !tag.attributes.empty(); }),
      1'000);
  EXPECT_EQ(std::count_if(tags.begin(), tags.end(),
                [](const Tag& tag) { return tag.name == "div" && tag.attributes.size() == 2; }),
      1'000);
  EXPECT_LT(page.size(), 20u << 20);
  EXPECT_THAT(page, HasSubstr("The diff is left out"));
  EXPECT_LT(lines_of(render(input, ReportFormat::text)), 300u);
}

TEST(ReportPage, ShowsANightThatHasNothingYet) {
  ReportInput input;
  input.night.id = "n";
  for (const auto format : {ReportFormat::text, ReportFormat::markdown, ReportFormat::html, ReportFormat::json})
    EXPECT_NE(render(input, format), "");
  tags_of(render(input, ReportFormat::html));
  input.night.started_ms = 1'795'384'800'000;
  input.now_ms = input.night.started_ms + 1'000;
  input.tasks.resize(1);
  input.tasks[0].id = "a";
  input.tasks[0].state = TaskState::running;
  input.attempts.resize(1);
  input.attempts[0].task = "a";
  input.attempts[0].number = 1;
  input.attempts[0].started_ms = input.night.started_ms;
  const std::string page = render(input, ReportFormat::html);
  tags_of(page);
  EXPECT_THAT(page, HasSubstr("the night is still running"));
  EXPECT_THAT(page, HasSubstr("Trends begin with the second night."));
}

// Times come from a clock that may have been set.
TEST(ReportPage, BearsTimesThatMakeNoSense) {
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1},
           std::numeric_limits<std::int64_t>::max() / 2, std::numeric_limits<std::int64_t>::min() / 2}) {
    ReportInput input = sample_night(5);
    input.night.started_ms = time;
    input.attempts[1].ended_ms = time;
    input.attempts[2].started_ms = time;
    input.trend[0].ended_ms = time;
    input.attempts[0].timings_ms = {{"run", time}};
    for (const auto format : {ReportFormat::text, ReportFormat::markdown, ReportFormat::html, ReportFormat::json})
      EXPECT_NE(render(input, format), "");
  }
}

TEST(ReportText, HasTheLinesOfItsOwnWhateverTheWordsSay) {
  const std::string text = render(night_saying(hostile()), ReportFormat::text);
  expect_harmless(text);
  expect_no_secret(text);
  EXPECT_EQ(lines_of(text), lines_of(render(night_saying("word"), ReportFormat::text)));
  // Colours are ours alone.
  std::string coloured = render(night_saying(hostile()), ReportFormat::text, Colour::on);
  for (const std::string_view style :
      {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"}) {
    for (std::size_t at = 0; (at = coloured.find(style)) != std::string::npos;) coloured.erase(at, style.size());
  }
  EXPECT_EQ(coloured, text);
}

TEST(ReportText, SaysShortlyWhatHappened) {
  const std::string text = render(sample_night(10), ReportFormat::text);
  for (const std::string_view words :
      {"night:   2026-11-22T2200-1a2b (finished)", "tasks:   10: 7 accepted, 2 refused, 1 failed",
          "note:    1 attempt ran on the host", "  cart-total-3 (findings): 2 findings in",
          "      instead: call the function under test", "    generator: timed out", "flaky tests, by nights"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
}

// Without a backslash before it, and not in an entity.
std::size_t unescaped(std::string_view text, std::string_view marks) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (marks.find(text[i]) != std::string_view::npos) {
      ++count;
    }
  }
  return count;
}

TEST(ReportMarkdown, HasTheStructureOfItsOwnWhateverTheWordsSay) {
  const std::string text = render(night_saying(hostile()), ReportFormat::markdown);
  const std::string plain = render(night_saying("word"), ReportFormat::markdown);
  expect_harmless(text);
  expect_no_secret(text);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(lines_of(text), lines_of(plain));
  for (const std::string_view mark : {"|", "`", "[", "]", "*", "_", "~", "$"})
    EXPECT_EQ(unescaped(text, mark), unescaped(plain, mark)) << mark;
  EXPECT_THAT(text, Not(HasSubstr("@person")));
  EXPECT_THAT(text, Not(HasSubstr("#12")));
  EXPECT_THAT(text, Not(HasSubstr("https:/")));
  EXPECT_THAT(text, Not(HasSubstr("www.")));
}

TEST(ReportMarkdown, FitsAComment) {
  ReportInput input = sample_night(1'000);
  EXPECT_LT(render(input, ReportFormat::markdown).size(), 65'536u);
  EXPECT_THAT(render(input, ReportFormat::markdown), HasSubstr("more tasks, for which a comment has no room"));
  for_each_text(input, [](std::string& text) { text = std::string(3'000, '<'); });
  EXPECT_LT(render(input, ReportFormat::markdown).size(), 65'536u);
  const std::string small = render(sample_night(10), ReportFormat::markdown);
  EXPECT_THAT(small, HasSubstr("## Night 2026-11-22T2200-1a2b: 7 of 10 accepted"));
  EXPECT_THAT(small, HasSubstr("| cart-total-3 | refused | findings: 2 findings"));
  EXPECT_THAT(small, HasSubstr("Instead: call the function under test"));
}

TEST(ReportJson, IsOneDocumentInAscii) {
  const std::string text = render(night_saying(hostile()), ReportFormat::json);
  expect_harmless(text);
  expect_no_secret(text);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(ReportJson, HoldsTheNight) {
  const auto json = nlohmann::json::parse(render(sample_night(10), ReportFormat::json));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["night"]["state"], "finished");
  EXPECT_EQ(json["counts"]["accepted"], 7);
  EXPECT_EQ(json["tasks"].size(), 10u);
  EXPECT_EQ(json["tasks"][3]["state"], "refused");
  EXPECT_EQ(json["tasks"][3]["attempts"].size(), 2u);
  EXPECT_EQ(json["tasks"][3]["attempts"][1]["findings"][0]["rule"], "host.child_process");
  EXPECT_EQ(json["tasks"][5]["requeued"], 1);
  EXPECT_EQ(json["tasks"][5]["put_backs"], 1) << "the name of older versions";
  EXPECT_EQ(json["tasks"][0]["attempts"][0]["worth"]["mutants_killed"], 5);
  EXPECT_EQ(json["trend"].size(), 14u);
  EXPECT_EQ(json["flaky"][0]["nights"], 4);
  EXPECT_EQ(json["notices"].size(), 4u);
  EXPECT_EQ(json["steps"][0]["command"], "guard nightly review");
}

// Texts are read together, and yet each is masked as if it stood alone.
TEST(ReportMask, HidesASecretInAnyFieldAndNothingElse) {
  std::size_t fields = 0;
  {
    ReportInput input = sample_night(4);
    for_each_text(input, [&](std::string&) { ++fields; });
  }
  for (std::size_t field = 0; field < fields; ++field) {
    ReportInput input = sample_night(4);
    std::size_t at = 0;
    std::string* changed = nullptr;
    for_each_text(input, [&](std::string& text) {
      if (at++ == field) changed = &text;
    });
    *changed = "before " + std::string(kKnown) + " behind";
    const ReportInput masked = masked_input(secrets(), input);
    ReportInput expected = sample_night(4);
    std::vector<std::string> texts, wanted;
    for_each_text(expected, [&](std::string& text) { wanted.push_back(text); });
    wanted[field] = "before [REDACTED:env:TOKEN] behind";
    ReportInput seen = masked;
    for_each_text(seen, [&](std::string& text) { texts.push_back(text); });
    wanted[4] = texts[4] = "";  // plan_text is dropped
    ASSERT_EQ(texts, wanted) << field;
  }
}

// A key that begins and does not end would otherwise swallow the rest of the night.
TEST(ReportMask, LetsAKeyThatDoesNotEndHideItsOwnTextAlone) {
  ReportInput input = sample_night(4);
  input.tasks[0].prompt = "-----BEGIN RSA PRIVATE" + std::string(" KEY-----\nMIIEpAIBAAKCAQEA0123456789");
  input.tasks[1].prompt = "second prompt";
  const ReportInput masked = masked_input(secrets(), input);
  EXPECT_THAT(masked.tasks[0].prompt, HasSubstr("[REDACTED:"));
  EXPECT_EQ(masked.tasks[1].prompt, "second prompt");
  EXPECT_EQ(masked.attempts.back().generator, input.attempts.back().generator);
}

TEST(ReportView, TellsWhatIsThinnerThanUsual) {
  ReportInput input = sample_night(3);
  input.attempts[1].evidence.clear();
  input.attempts[2].mutants = 0;
  input.attempts[0].flaky = {"a", "b", "a"};
  input.attempts[1].flaky = {"a"};
  input.tasks[2].requeued = 2;
  EXPECT_THAT(ReportView(input).notices,
      ElementsAre("1 attempt ran on the host, without a sandbox.", "1 task went to the host by the roll-out.",
          "1 accepted task without an evidence record.",
          "1 accepted test task never shown to fail on broken code: no broken version was tried.",
          "2 tests passed and failed on the same code tonight."));
  input.tasks[1].state = TaskState::waiting;
  input.attempts[1].outcome = AttemptOutcome::interrupted;
  EXPECT_THAT(ReportView(input).notices, AllOf(Contains(HasSubstr("1 attempt interrupted"))));
}

TEST(ReportView, BeginsWithWhatToDo) {
  ReportInput input = sample_night(10);
  const auto said = [&] {
    std::vector<std::string> lines;
    for (const Step& step : ReportView(input).steps) lines.push_back(step.what + " | " + step.command);
    return lines;
  };
  EXPECT_THAT(said(),
      ElementsAre(AllOf(HasSubstr("Review 6 accepted tasks (format-date-1, login-form-2, retry-after-4 and 3 more)"),
                      HasSubstr("| guard nightly review")),
          HasSubstr("| git merge guard/2026-11-22"),
          AllOf(HasSubstr("Look at the generator"), HasSubstr("csv-import-6"), HasSubstr("stopped after 15 min")),
          HasSubstr("| guard nightly retry cart-total-3 --note \"...\"")));
  // Secrets come first, an unfinished night before them.
  input.attempts[1].secrets_masked = 2;
  input.tasks[9].state = TaskState::waiting;
  input.night.state = NightState::killed;
  EXPECT_THAT(said(),
      AllOf(Contains(HasSubstr("| guard nightly resume")),
          Contains(HasSubstr("the tests of format-date-1 printed secrets"))));
  EXPECT_THAT(ReportView(input).notices,
      AllOf(Contains("2 secrets masked in what tests printed."), Contains(HasSubstr("The night was killed after"))));
  // A name of a task never becomes a word of the shell's.
  input.tasks[3].id = "a'b; $(reboot)";
  EXPECT_THAT(said(), Contains(HasSubstr("| guard nightly retry 'a'\\''b; $(reboot)' --note")));
  input.tasks.clear();
  input.attempts.clear();
  EXPECT_THAT(said(), ElementsAre("Nothing needs you. | "));
}

TEST(ReportView, TellsWhatWasMaskedAndWhatAGeneratorSaidLast) {
  ReportInput input = sample_night(10);
  const auto failed = std::find_if(input.attempts.begin(), input.attempts.end(),
      [](const Attempt& attempt) { return attempt.outcome == AttemptOutcome::failed; });
  failed->generator_said = "asking the model\nmodel quota exceeded\n";
  input.attempts[0].secrets_masked = 3;
  const std::string page = render(input, ReportFormat::html);
  EXPECT_THAT(page,
      AllOf(HasSubstr("<pre class=\"wrap\">asking the model\nmodel quota exceeded\n</pre>"),
          HasSubstr("3 secrets masked")));
  EXPECT_LT(page.find("What to do"), page.find("class=\"tiles\""));
  const auto json = nlohmann::json::parse(render(input, ReportFormat::json));
  EXPECT_EQ(json["tasks"][0]["attempts"][0]["secrets_masked"], 3);
}

TEST(ReportView, SaysDurationsAndTimes) {
  const std::pair<std::int64_t, std::string_view> durations[] = {{-5, "0 ms"}, {420, "420 ms"}, {1'000, "1.0 s"},
      {9'999, "9.9 s"}, {12'000, "12 s"}, {185'000, "3 min 5 s"}, {180'000, "3 min"}, {22'320'000, "6 h 12 min"},
      {3'600'000, "1 h"}};
  for (const auto& [ms, text] : durations) EXPECT_EQ(duration_text(ms), text);
  EXPECT_EQ(time_text(1'795'384'800'000), "2026-11-22 22:00 UTC");
  EXPECT_EQ(time_text(0), "-");
  EXPECT_EQ(clock_text(1'795'384'800'000), "22:00");
}

TEST(ReportSummary, IsOneLine) {
  ReportInput input = sample_night(10);
  input.night.ended_ms = input.night.started_ms + 22'320'000;
  EXPECT_EQ(summary_line(input), "guard: 7 of 10 accepted, 2 refused, 1 failed in 6 h 12 min (finished)");
  input.tasks[0].state = TaskState::waiting;
  input.tasks[1].state = TaskState::skipped;
  input.night.state = NightState::ended;
  input.night.reason = "put_backs\n\x1b[1m";
  EXPECT_EQ(summary_line(input),
      "guard: 5 of 10 accepted, 2 refused, 1 failed, 1 skipped, 1 not decided in 6 h 12 min (ended: "
      "put_backs\\n\\x1b[1m)");
}

TEST(HtmlText, CutsBetweenLinesOrCharacters) {
  bool cut = false;
  EXPECT_EQ(first_lines("ab\ncd\n", 6, cut), "ab\ncd\n");
  EXPECT_FALSE(cut);
  EXPECT_EQ(first_lines("ab\ncd\n", 5, cut), "ab\n");
  EXPECT_TRUE(cut);
  EXPECT_EQ(first_lines("a\xc3\xa4", 2, cut), "a");
  EXPECT_TRUE(cut);
  EXPECT_EQ(html("<a href=\"x\">&'\t\n\x1b"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\t\\n\\x1b");
  EXPECT_EQ(html_lines("a\n<b>\n"), "a\n&lt;b&gt;\n");
}

TEST(ReportInputTest, ReadsANightAndItsPast) {
  const auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  auto journal = Journal::open(folder->path() / "journal.db", Journal::Access::write);
  ASSERT_TRUE(journal);
  EXPECT_EQ(report_input(*journal, "").error().code(), ErrorCode::file_not_found);
  ReportInput sample = sample_night(10);
  Night before = sample.night;
  before.id = "2026-11-21T2200-0000";
  before.started_ms -= 86'400'000;
  ASSERT_TRUE(journal->begin(before, {}));
  ASSERT_TRUE(journal->begin(sample.night, sample.tasks));
  for (const auto& attempt : sample.attempts) ASSERT_TRUE(journal->save(nullptr, nullptr, &attempt));
  const auto newest = report_input(*journal, "");
  ASSERT_TRUE(newest) << newest.error().to_string();
  EXPECT_EQ(newest->night.id, sample.night.id);
  EXPECT_EQ(newest->tasks.size(), 10u);
  EXPECT_EQ(newest->attempts.size(), sample.attempts.size());
  EXPECT_EQ(newest->rules.size(), 2u);
  EXPECT_EQ(newest->trend.size(), 2u);
  EXPECT_GT(newest->now_ms, 0);
  EXPECT_EQ(report_input(*journal, before.id)->tasks.size(), 0u);
  EXPECT_EQ(report_input(*journal, "none").error().code(), ErrorCode::file_not_found);
  // Bars and rows do not hang on the order in which the journal answers.
  EXPECT_EQ(render(*newest, ReportFormat::markdown), [&] {
    ReportInput same = *newest;
    std::reverse(same.tasks.begin(), same.tasks.end());
    std::reverse(same.attempts.begin(), same.attempts.end());
    return render(same, ReportFormat::markdown);
  }());
}

}  // namespace
}  // namespace guard::nightly
