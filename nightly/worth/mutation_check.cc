// The project is copied once, and broken in the copy: one version after the other is written, run and taken back. What
// runs on unchanged code runs in the copy, too, so that nothing but the change tells two runs apart.
//
// Fails closed: whatever comes between is an Error in here, and `undecided` for the caller. A test is worth something
// only by a failure that its own report names, on a version that was loaded, and that comes again when the same version
// is run once more. What is left out: a test that reads the text of src/ itself fails on every change, and looks like a
// good one.
#include "nightly/worth/mutation_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/hash.h"
#include "common/text/text.h"
#include "nightly/worth/mutants.h"
#include "nightly/worth/project_copy.h"
#include "pipeline/report/line_coverage.h"

namespace guard::nightly {
namespace {

// A run that takes several times as long as on unchanged code does not end. The least is for machines that are busy.
constexpr std::uint64_t kTimeoutFactor = 4;
constexpr std::uint64_t kTimeoutLeast_s = 5;
constexpr std::uint64_t kGrace_s = 1;

std::string words_of(const RunRecord& record) {
  const std::string& detail = record.verdict.detail;
  return fmt::format("{}{}{}", info(record.verdict.reason).name, detail.empty() ? "" : ": ", detail);
}

std::string name_of(const TestCase& test) { return fmt::format("{} > {}", test.file, test.name); }

std::set<std::string> failed_names(const RunRecord& record) {
  std::set<std::string> names;
  if (!record.tests) return names;
  for (const auto& test : record.tests->cases) {
    if (test.state == TestState::failed) names.insert(name_of(test));
  }
  return names;
}

enum class Ending { killed, survived, not_judged };

// What became of the tests on a broken version.
struct Trial {
  Ending ending = Ending::not_judged;
  bool by_limit = false;        // it did not end, or took all it could get
  std::set<std::string> files;  // that hold a test that failed
  std::set<std::string> names;  // of the tests that failed
};

// The tests' own doing, or guard's: an Error, which nothing is concluded from.
Result<Trial> judge(const RunRecord& record, const std::vector<std::string>& files) {
  Trial trial;
  switch (record.verdict.reason) {
    case Reason::tests_passed: trial.ending = Ending::survived; return trial;
    case Reason::tests_failed:
      // bun exits with a failure, too, where a file could not be loaded. That is no test's merit.
      if (!record.tests || record.tests->failures == 0) return trial;
      trial.ending = Ending::killed;
      for (const auto& file : record.tests->files) {
        if (file.failures > 0) trial.files.insert(file.file);
      }
      trial.names = failed_names(record);
      return trial;
    case Reason::timed_out:
    case Reason::out_of_memory:
    case Reason::pids_limit:
    case Reason::storage_full:
    case Reason::output_flood:
      trial.ending = Ending::killed;
      trial.by_limit = true;
      // With several files nobody knows in which of them.
      if (files.size() == 1) trial.files.insert(files.front());
      return trial;
    // What only the tests and the code they load can bring about, and yet no failure of a test.
    case Reason::crashed:
    case Reason::violation:
    case Reason::all_skipped:
    case Reason::expected_failures:
    case Reason::nothing_asserted:
    case Reason::assertion_swallowed:
    case Reason::flaky:
    case Reason::report_forged:
    case Reason::no_tests:
    case Reason::report_missing:
    case Reason::report_incomplete: return trial;
    default: return Error(ErrorCode::execution_failed, words_of(record));
  }
}

struct Version {
  std::map<std::string, std::string> files;  // what is in them in place of what was
  Mutant mutant;
};

std::uint32_t lines_in(std::string_view text) {
  return static_cast<std::uint32_t>(
      std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r') + 1);
}

// The same for the same tests, so that the same change is judged in the same way twice.
std::uint32_t seed_of(const std::vector<std::string>& files, const ProjectCopy& copy, std::uint64_t index) {
  Sha256 hash;
  for (const auto& file : files) {
    hash.update_field(file);
    const auto found = copy.scripts().find(file);
    hash.update_field(found == copy.scripts().end() ? "" : found->second);
  }
  hash.update_field(std::to_string(index));
  const auto digest = hash.finish();
  return static_cast<std::uint32_t>(digest[0]) << 24 | static_cast<std::uint32_t>(digest[1]) << 16 |
      static_cast<std::uint32_t>(digest[2]) << 8 | digest[3];
}

bool same_tests(const TestSummary& a, const TestSummary& b) {
  const auto counts = [](const TestSummary& summary) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& file : summary.files) all[file.file] = {file.tests, file.skipped};
    return all;
  };
  return counts(a) == counts(b);
}

class Weighing {
 public:
  Weighing(const WorthRequest& request, const CancelToken& cancel, const TestRunner& runner)
      : request_(request), cancel_(cancel), runner_(runner) {}

  Result<Worth> weigh() {
    auto done = steps();
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while the tests were weighed");
    if (!done) {
      worth_.kind = WorthKind::undecided;
      worth_.detail = fmt::format("the tests could not be weighed: {}", done.error().message());
    }
    return std::move(worth_);
  }

 private:
  Result<void> steps() {
    if (request_.run.files.empty()) return Error(ErrorCode::input_invalid, "there are no tests to be weighed");
    GUARD_TRY_ASSIGN(
        copy_, ProjectCopy::create(request_.run.project, request_.scratch, request_.run.files, request_.before));
    GUARD_TRY_ASSIGN(const bool steady, passes_every_time());
    if (!steady) return ok();
    if (!request_.before.empty()) {
      // Tests that fail on unchanged code notice nothing by failing.
      GUARD_TRY_ASSIGN(const RunRecord old, with_old_tests([&] {
        RunRequest wanted = limited_run();
        wanted.files = old_files();
        return run(wanted);
      }));
      old_pass_ = old.verdict.kind() == VerdictKind::allowed;
    }
    GUARD_TRY(cover());
    GUARD_TRY(stub());
    GUARD_TRY(mutate());
    if (worth_.kind == WorthKind::weaker) return ok();
    GUARD_TRY_ASSIGN(const bool confirmed, fails_again());
    if (confirmed) conclude();
    return ok();
  }

  // ---- runs --------------------------------------------------------------------------------------------------------

  RunRequest plain_run() const {
    RunRequest run = request_.run;
    run.project = copy_->folder();
    run.committed_tree = request_.run.project;
    run.argv.clear();
    run.facts.reset();  // the evidence is of the run that came before
    run.options = {};
    run.warn = nullptr;
    run.progress = nullptr;
    run.config.run.collect = CollectPolicy::none;
    run.config.run.require_assertions = Assertions::off;  // whether a test notices anything is what is measured here
    return run;
  }

  RunRequest limited_run() const {
    RunRequest run = plain_run();
    for (milliseconds* timeout : {&run.config.namespace_sandbox.timeout, &run.config.docker.timeout,
             &run.config.host.timeout, &run.config.container_use.timeout}) {
      *timeout = std::min<milliseconds>(*timeout, std::chrono::seconds(limit_s_));
    }
    run.config.run.grace_s = std::min(run.config.run.grace_s, kGrace_s);
    return run;
  }

  Result<RunRecord> run(const RunRequest& wanted) {
    if (!cancel_.cancelled()) {
      if (request_.run.progress) request_.run.progress(fmt::format("weighing, run {}", worth_.runs + 1));
      ++worth_.runs;
      RunRecord record = runner_(wanted, cancel_);
      if (!cancel_.cancelled()) return record;
    }
    return Error(ErrorCode::cancelled, "stopped");
  }

  // ---- unchanged code ----------------------------------------------------------------------------------------------

  // False: they do not, and worth_ says so.
  Result<bool> passes_every_time() {
    std::set<std::string> failed;
    std::string words;
    std::uint64_t failures = 0;
    std::optional<TestSummary> first;
    milliseconds longest{0};
    bool other_tests = false;
    const std::uint64_t runs = std::max<std::uint64_t>(request_.runs, 1);
    for (std::uint64_t i = 0; i < runs; ++i) {
      RunRequest wanted = plain_run();
      wanted.options.seed = seed_of(request_.run.files, *copy_, i);
      GUARD_TRY_ASSIGN(const RunRecord record, run(wanted));
      if (record.exec) longest = std::max(longest, record.exec->wall);
      if (record.verdict.kind() == VerdictKind::allowed && record.tests) {
        if (!first) first = record.tests;
        other_tests = other_tests || !same_tests(*first, *record.tests);
        continue;
      }
      // It was allowed before; a finding now is about something that has changed since.
      if (record.verdict.kind() != VerdictKind::rejected || record.verdict.reason == Reason::findings)
        return Error(ErrorCode::execution_failed, words_of(record));
      ++failures;
      failed.merge(failed_names(record));
      words = words_of(record);
    }
    limit_s_ = std::max<std::uint64_t>(
        kTimeoutLeast_s, kTimeoutFactor * static_cast<std::uint64_t>(longest.count()) / 1000 + 1);
    if (failures == 0 && !other_tests) {
      tests_ = first->tests - first->skipped;
      return true;
    }
    if (failures == runs) GUARD_TRY(look_at_original());
    worth_.kind = WorthKind::flaky;
    worth_.flaky.assign(failed.begin(), failed.end());
    worth_.detail = failures == 0
        ? fmt::format(
              "not the same tests ran in {} runs of the same code; declare them whatever the time, order or chance",
              runs)
        : fmt::format(
              "failed in {} of {} runs of the same code in random order ({}); let no test depend on another one, on "
              "the "
              "time or on chance",
              failures, runs, words);
    return false;
  }

  // Nothing ever passed in the copy. Either the tests pass in the order of their files alone, or the copy lacks
  // something.
  Result<void> look_at_original() {
    GUARD_TRY_ASSIGN(const RunRecord in_copy, run(plain_run()));
    if (in_copy.verdict.kind() == VerdictKind::allowed) return ok();
    RunRequest wanted = plain_run();
    wanted.project = request_.run.project;
    GUARD_TRY_ASSIGN(const RunRecord in_project, run(wanted));
    if (in_project.verdict.kind() == VerdictKind::rejected && in_project.verdict.reason != Reason::findings)
      return ok();
    return Error(
        ErrorCode::execution_failed, fmt::format("they do not pass in a copy of the project ({})", words_of(in_copy)));
  }

  // ---- coverage ----------------------------------------------------------------------------------------------------

  Result<void> cover() {
    GUARD_TRY_ASSIGN(auto covered, coverage_of(request_.run.files));
    if (!covered) return ok();
    covered_ = std::move(*covered);
    worth_.lines_covered = count_lines(covered_);
    if (old_pass_) {
      GUARD_TRY_ASSIGN(const auto before, with_old_tests([&] { return coverage_of(old_files()); }));
      for (const auto& [path, lines] : before.value_or(LineCoverage()))
        covered_[path].insert(lines.begin(), lines.end());
    }
    if (request_.old_tests.empty()) {
      worth_.lines_newly_covered = worth_.lines_covered;
    } else if (worth_.lines_covered > 0) {
      GUARD_TRY_ASSIGN(const auto known, coverage_of(request_.old_tests));
      if (known) worth_.lines_newly_covered = count_lines(covered_, *known);
    }
    return ok();
  }

  // The lines of src/ that ran, as bun writes about the run; nothing where that did not come about.
  Result<std::optional<LineCoverage>> coverage_of(const std::vector<std::string>& files) {
    RunRequest wanted = plain_run();
    wanted.files = files;
    wanted.jobs = 1;
    wanted.options.coverage = Coverage::on;
    GUARD_TRY_ASSIGN(const RunRecord record, run(wanted));
    if (record.verdict.kind() != VerdictKind::allowed || !record.coverage) return std::optional<LineCoverage>();
    const auto& sources = copy_->sources();
    LineCoverage lines = parse_lcov(*record.coverage, [&](const std::string& file) {
      return std::binary_search(sources.begin(), sources.end(), file) ? lines_in(copy_->scripts().at(file)) : 0u;
    });
    for (auto& [file, hits] : lines) std::erase_if(hits, [](const auto& line) { return !line.second; });
    std::erase_if(lines, [](const auto& file) { return file.second.empty(); });
    return std::optional(std::move(lines));
  }

  // ---- broken code -------------------------------------------------------------------------------------------------

  std::vector<std::string> old_files() const {
    std::vector<std::string> files;
    for (const auto& [path, text] : request_.before) files.push_back(path);
    return files;
  }

  // Does something while the tests are as they were.
  template <typename Action>
  auto with_old_tests(const Action& action) -> decltype(action()) {
    GUARD_TRY(copy_->put(request_.before));
    auto result = action();
    GUARD_TRY(copy_->take_back(request_.before));
    return result;
  }

  Result<Trial> run_version(const Version& version) { return run_version(version, request_.run.files); }

  Result<Trial> run_version(const Version& version, const std::vector<std::string>& files) {
    GUARD_TRY(copy_->put(version.files));
    RunRequest wanted = limited_run();
    wanted.files = files;
    auto record = run(wanted);
    GUARD_TRY(copy_->take_back(version.files));
    if (!record) return std::move(record).error();
    return judge(*record, files);
  }

  // Whether the tests as they were fail on this version, every time. A limit that was reached may be the machine's
  // doing.
  Result<bool> was_noticed(const Version& version) {
    for (int i = 0; i < 2; ++i) {
      GUARD_TRY_ASSIGN(const Trial trial, with_old_tests([&] { return run_version(version, old_files()); }));
      if (trial.ending != Ending::killed || trial.by_limit) return false;
    }
    return true;
  }

  Result<Ending> try_version(Version version) {
    GUARD_TRY_ASSIGN(const Trial trial, run_version(version));
    if (trial.ending == Ending::not_judged) {
      ++not_judged_;
      return trial.ending;
    }
    version.mutant.killed = trial.ending == Ending::killed;
    worth_.mutants.push_back(version.mutant);
    if (trial.ending == Ending::survived && old_pass_ && worth_.kind != WorthKind::weaker) {
      GUARD_TRY_ASSIGN(const bool noticed, was_noticed(version));
      if (noticed) {
        worth_.kind = WorthKind::weaker;
        worth_.detail = fmt::format(
            "the existing tests failed on a broken version of {} ({}), and as they are changed they pass on it; leave "
            "what they expect, and add to it",
            place_text(printable(version.mutant.path), version.mutant.line), printable(version.mutant.what));
      }
    }
    failed_.insert(trial.names.begin(), trial.names.end());
    for (const auto& file : trial.files) {
      const bool asked =
          std::find(request_.run.files.begin(), request_.run.files.end(), file) != request_.run.files.end();
      // A failed test shows more than a run that did not end.
      if (asked && (killers_.count(file) == 0 || (killers_.at(file).trial.by_limit && !trial.by_limit)))
        killers_.insert_or_assign(file, Killer{version, trial});
    }
    return trial.ending;
  }

  bool all_killed() const {
    return std::all_of(request_.run.files.begin(), request_.run.files.end(),
        [&](const std::string& file) { return killers_.count(file) != 0; });
  }

  Result<void> stub() {
    const auto& imported = copy_->imported();
    GUARD_TRY(stub(imported, imported.size() == 1 ? imported.front() : "src", "all exports stubbed"));
    // What is imported in ways that are not seen (by the names of tsconfig.json, or computed), and what lies behind
    // mocks.
    if (!all_killed() && imported.size() < copy_->sources().size())
      GUARD_TRY(stub(copy_->sources(), "src", "all exports of all modules stubbed"));
    return ok();
  }

  Result<void> stub(const std::vector<std::string>& modules, std::string path, std::string what) {
    if (modules.empty()) return ok();
    for (const StubKind kind : {StubKind::quiet, StubKind::endless}) {
      Version version;
      for (const auto& module : modules) version.files[module] = copy_->stub_of(module, kind);
      version.mutant = {path, 0, what, false};
      GUARD_TRY_ASSIGN(const Ending ending, try_version(std::move(version)));
      if (ending != Ending::not_judged) return ok();
    }
    return ok();
  }

  Result<void> mutate() {
    // Those that ran first; without coverage, those that are imported first.
    std::vector<std::string> modules = copy_->reached().empty() ? copy_->sources() : copy_->reached();
    std::stable_partition(
        modules.begin(), modules.end(), [&](const std::string& path) { return covered_.count(path) != 0; });
    std::vector<std::pair<std::string, std::vector<TextMutant>>> all;
    for (const auto& path : modules) {
      const auto text = copy_->scripts().find(path);
      if (text == copy_->scripts().end()) continue;
      const auto lines = covered_.find(path);
      auto mutants =
          mutants_of(path, text->second, request_.mutants, lines == covered_.end() ? LineHits() : lines->second);
      if (!mutants.empty()) all.emplace_back(path, std::move(mutants));
      if (all.size() >= request_.mutants) break;
    }
    std::uint64_t tried = 0;
    for (std::size_t round = 0; tried < request_.mutants; ++round) {
      const std::uint64_t before = tried;
      for (const auto& [path, mutants] : all) {
        if (round >= mutants.size() || tried >= request_.mutants) continue;
        ++tried;
        Version version;
        version.files[path] = mutated(copy_->scripts().at(path), mutants[round]);
        version.mutant = {path, mutants[round].line, mutants[round].what, false};
        GUARD_TRY(try_version(std::move(version)));
      }
      if (tried == before) break;
    }
    return ok();
  }

  // ---- conclusion --------------------------------------------------------------------------------------------------

  // A test that fails now and then would sooner or later fail on a broken version, too. False: one did not fail again.
  Result<bool> fails_again() {
    std::set<std::string> done;
    bool limit_held = false;
    for (const auto& [file, killer] : killers_) {
      if (done.count(file) != 0) continue;
      if (killer.trial.by_limit) {
        // Perhaps the machine was busy and nothing else was wrong.
        if (limit_held) continue;
        GUARD_TRY_ASSIGN(const RunRecord record, run(limited_run()));
        if (record.verdict.kind() != VerdictKind::allowed) {
          return Error(ErrorCode::execution_failed,
              fmt::format(
                  "unchanged code does not pass within {} s, so it proves nothing that broken code does not ({})",
                  limit_s_, words_of(record)));
        }
        limit_held = true;
        continue;
      }
      GUARD_TRY_ASSIGN(const Trial again, run_version(killer.version));
      if (again.files.count(file) == 0) {
        const auto& before = killer.trial.names;
        std::set_symmetric_difference(
            before.begin(), before.end(), again.names.begin(), again.names.end(), std::back_inserter(worth_.flaky));
        worth_.kind = WorthKind::flaky;
        worth_.detail = fmt::format(
            "{} failed on a broken version and did not fail when the same version ran again; let no test depend on the "
            "time or on chance",
            printable(file));
        return false;
      }
      done.insert(again.files.begin(), again.files.end());
    }
    return true;
  }

  void conclude() {
    const auto killed =
        std::count_if(worth_.mutants.begin(), worth_.mutants.end(), [](const Mutant& mutant) { return mutant.killed; });
    if (all_killed()) {
      worth_.kind = WorthKind::worth;
      worth_.detail = fmt::format(
          "fails on {} of {} broken versions of src/ ({} runs)", killed, worth_.mutants.size(), worth_.runs);
      // Only where each failure has a name.
      if (failed_.size() < tests_ && !failed_.empty())
        worth_.detail += fmt::format("; {} of {} tests never failed", tests_ - failed_.size(), tests_);
      return;
    }
    if (worth_.mutants.empty() && not_judged_ > 0) {
      worth_.kind = WorthKind::undecided;
      worth_.detail =
          "no test came to run on any broken version of src/, so nothing is known of their worth; let tests call the "
          "code inside of test(), "
          "not while they are loaded";
      return;
    }
    worth_.kind = WorthKind::worthless;
    std::string names;
    for (const auto& file : request_.run.files) {
      if (killers_.count(file) == 0) names += (names.empty() ? "" : ", ") + printable(file);
    }
    if (worth_.mutants.empty()) {
      worth_.detail = fmt::format("{}: there is no code in src/ that a test could fail for", names);
    } else if (copy_->imported().empty()) {
      worth_.detail = fmt::format(
          "{}: imports nothing from src/ and passes whatever the code does; import what is to be tested and expect its "
          "results",
          names);
    } else {
      const std::string others = killed == 0 ? "" : fmt::format(" (on {} of them another file failed)", killed);
      worth_.detail = fmt::format(
          "{}: passes whatever the code does, on all of {} broken versions of src/{}; expect the values that the code "
          "computes, "
          "and mock what it calls but not what is tested",
          names, worth_.mutants.size(), others);
    }
  }

  struct Killer {
    Version version;
    Trial trial;
  };

  const WorthRequest& request_;
  const CancelToken& cancel_;
  const TestRunner& runner_;
  Worth worth_;
  std::optional<ProjectCopy> copy_;
  LineCoverage covered_;
  std::uint64_t limit_s_ = kTimeoutLeast_s;
  std::uint64_t tests_ = 0;
  std::uint64_t not_judged_ = 0;
  bool old_pass_ = false;                  // the tests in `before`, on unchanged code
  std::set<std::string> failed_;           // names of tests, on any broken version
  std::map<std::string, Killer> killers_;  // file -> the first version on which it failed
};

}  // namespace

Result<Worth> weigh_tests(const WorthRequest& request, const CancelToken& cancel) {
  return weigh_tests(request, cancel, [](const RunRequest& run, const CancelToken& stop) {
    NullSink out;
    return run_tests(run, out, out, stop);
  });
}

Result<Worth> weigh_tests(const WorthRequest& request, const CancelToken& cancel, const TestRunner& runner) {
  return Weighing(request, cancel, runner).weigh();
}

}  // namespace guard::nightly
