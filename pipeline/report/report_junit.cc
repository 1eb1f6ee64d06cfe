#include "pipeline/report/reports.h"

#include <fmt/format.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "common/text/text.h"

namespace guard {
namespace {

// pugixml escapes; what XML 1.0 has no way to write at all becomes visible here.
std::string xml_text(std::string_view text) {
  std::string shown = printable_lines(text);
  for (const std::string_view never : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {  // U+FFFE, U+FFFF
    shown = replaced(std::move(shown), never, "?");
  }
  return shown;
}

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(xml_text(value).c_str());
}
void set(pugi::xml_node node, const char* name, std::uint64_t value) {
  node.append_attribute(name).set_value(static_cast<unsigned long long>(value));
}

struct Counts {
  std::uint64_t tests = 0;
  std::uint64_t failures = 0;
  std::uint64_t errors = 0;
  std::uint64_t skipped = 0;
};

void set(pugi::xml_node node, const Counts& counts) {
  set(node, "tests", counts.tests);
  set(node, "failures", counts.failures);
  set(node, "errors", counts.errors);
  set(node, "skipped", counts.skipped);
}

struct FileCases {
  std::vector<const Finding*> findings;
  std::vector<const WaivedFinding*> waived;
  const FileResult* result = nullptr;  // of a test file that was to run
  std::vector<const TestCase*> tests;
  std::vector<const Failure*> failures;
};

class Writer {
 public:
  explicit Writer(const char* name) : root_(document_.append_child("testsuites")) {
    set(root_, "name", std::string_view(name));
  }

  void add_file(const std::string& path, const FileCases& cases) {
    const auto suite = begin_suite(path);
    Counts counts;
    for (const auto* finding : cases.findings) add_finding(suite, *finding, counts);
    for (const auto* waived : cases.waived) {
      ++counts.skipped;
      auto entry = add_finding_case(suite, waived->finding, counts);
      set(entry.append_child("skipped"), "message",
          fmt::format("waived until {}: {}", waived->waiver.expires, waived->waiver.reason));
    }
    for (const auto* test : cases.tests) add_test(suite, *test, counts);
    for (const auto* failure : cases.failures) {
      const bool whole = failure->test.empty();
      auto entry = add_case(
          suite, path, whole ? std::string_view("the file as a whole") : std::string_view(failure->test), counts);
      set(entry, "file", path);
      if (failure->line > 0) set(entry, "line", failure->line);
      ++(whole ? counts.errors : counts.failures);
      auto child = entry.append_child(whole ? "error" : "failure");
      set(child, "type", failure->kind);
      set(child, "message", std::string_view(failure->message).substr(0, failure->message.find('\n')));
      child.text().set(
          (xml_text(failure->message) + (failure->next.empty() ? "" : fmt::format("\nnext: {}", failure->next)))
              .c_str());
    }
    if (cases.result != nullptr && cases.result->state == FileState::not_begun) {
      ++counts.skipped;
      set(add_case(suite, path, "the file as a whole", counts).append_child("skipped"), "message",
          std::string_view("not begun: the run was stopped before"));
    }
    if (counts.tests == 0) add_case(suite, path, "no findings", counts);
    end_suite(suite, counts);
  }

  void add_verdict(const Verdict& verdict, const std::optional<Error>& error) {
    const auto suite = begin_suite("verdict");
    Counts counts;
    auto entry = add_case(suite, "guard", "verdict", counts);
    if (verdict.kind() != VerdictKind::allowed) {
      const bool rejected = verdict.kind() == VerdictKind::rejected;
      ++(rejected ? counts.failures : counts.errors);
      const ReasonInfo& row = info(verdict.reason);
      auto child = entry.append_child(rejected ? "failure" : "error");
      set(child, "type", row.name);
      set(child, "message",
          fmt::format("{}: {}", to_string(verdict.kind()),
              verdict.detail.empty() ? std::string(row.sentence) : verdict.detail));
      std::string more;
      if (error) more += xml_text(error->message()) + "\n";
      if (error && !error->hint().empty()) {
        more += "next: " + xml_text(error->hint()) + "\n";
      } else if (!row.next.empty()) {
        more += "next: " + xml_text(row.next) + "\n";
      }
      child.text().set(more.c_str());
    }
    end_suite(suite, counts);
  }

  std::string take() {
    set(root_, total_);
    std::ostringstream out;
    document_.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return out.str();
  }

 private:
  pugi::xml_node begin_suite(std::string_view name) {
    auto suite = root_.append_child("testsuite");
    set(suite, "name", name);
    return suite;
  }

  void end_suite(pugi::xml_node suite, const Counts& counts) {
    set(suite, counts);
    total_.tests += counts.tests;
    total_.failures += counts.failures;
    total_.errors += counts.errors;
    total_.skipped += counts.skipped;
  }

  static pugi::xml_node add_case(pugi::xml_node suite, std::string_view of, std::string_view name, Counts& counts) {
    ++counts.tests;
    auto entry = suite.append_child("testcase");
    set(entry, "classname", of);
    set(entry, "name", name);
    return entry;
  }

  // One that passed or did not run; a failed one has a Failure.
  static void add_test(pugi::xml_node suite, const TestCase& test, Counts& counts) {
    auto entry = add_case(suite, test.file, test.name, counts);
    set(entry, "file", test.file);
    if (test.line > 0) set(entry, "line", test.line);
    set(entry, "time", fmt::format("{:.6f}", static_cast<double>(test.duration.count()) / 1e6));
    if (test.state == TestState::passed) return;
    ++counts.skipped;
    set(entry.append_child("skipped"), "message", to_string(test.state));
  }

  static pugi::xml_node add_finding_case(pugi::xml_node suite, const Finding& finding, Counts& counts) {
    const std::string name =
        finding.line == 0 ? finding.rule : fmt::format("{} at {}:{}", finding.rule, finding.line, finding.column);
    auto entry = add_case(suite, finding.path, name, counts);
    set(entry, "file", finding.path);
    if (finding.line > 0) set(entry, "line", finding.line);
    return entry;
  }

  static void add_finding(pugi::xml_node suite, const Finding& finding, Counts& counts) {
    auto entry = add_finding_case(suite, finding, counts);
    std::string text = xml_text(place_text(finding.path, finding.line, finding.column)) + "\n";
    if (!finding.excerpt.empty()) text += "  " + xml_text(finding.excerpt) + "\n";
    if (!finding.matched.empty()) text += "reads as: " + xml_text(finding.matched) + "\n";
    if (!finding.fix.empty()) text += "instead: " + xml_text(finding.fix) + "\n";
    if (finding.severity == Severity::note) {  // told, never a failure
      entry.append_child("system-out").text().set((xml_text(finding.message) + "\n" + text).c_str());
      return;
    }
    ++counts.failures;
    auto failure = entry.append_child("failure");
    set(failure, "type", finding.rule);
    set(failure, "message", finding.message);
    failure.text().set(text.c_str());
  }

  pugi::xml_document document_;
  pugi::xml_node root_;
  Counts total_;
};

using Files = std::map<std::string, FileCases>;

void add_check(const CheckRecord& record, Files& files) {
  for (const auto& name : record.names) files[name];
  for (const auto& finding : record.report.findings) files[finding.path].findings.push_back(&finding);
  for (const auto& waived : record.waived) files[waived.finding.path].waived.push_back(&waived);
}

std::string written(const char* name, const Files& files, const Verdict& verdict, const std::optional<Error>& error) {
  Writer writer(name);
  for (const auto& [path, cases] : files) writer.add_file(path, cases);
  // Rejected for findings: each is a failure already.
  if (verdict.reason != Reason::findings) writer.add_verdict(verdict, error);
  return writer.take();
}

}  // namespace

std::string check_junit(const CheckRecord& record) {
  Files files;
  add_check(record, files);
  return written("guard check", files, record.verdict, record.error);
}

std::string run_junit(const RunRecord& record) {
  Files files;
  if (record.check) add_check(*record.check, files);
  const std::vector<Failure> failures = failures_of(record);
  for (const auto& result : record.files) files[result.file].result = &result;
  for (const auto& failure : failures) files[failure.file].failures.push_back(&failure);
  if (record.tests) {
    for (const auto& test : record.tests->cases) {
      if (test.state != TestState::failed) files[test.file].tests.push_back(&test);
    }
  }
  // A file that is no test and has no finding is no test case.
  std::erase_if(files, [](const auto& entry) {
    return entry.second.result == nullptr && entry.second.findings.empty() && entry.second.waived.empty();
  });
  return written("guard run", files, record.verdict, record.error);
}

}  // namespace guard
