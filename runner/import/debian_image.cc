#include "runner/import/debian_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/import/image_import.h"
#include "runner/process/child_process.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kBuildMax{20};  // some 300 MB over a slow line
constexpr std::uint64_t kLogBytesMax = 4 << 20;
constexpr std::size_t kShownLines = 5;

constexpr std::array<std::string_view, kNamesOf<ImageTemplate>.size()> kPackages = {"python3", "nodejs", ""};
constexpr std::string_view kCommonPackages[] = {"git", "curl", "jq", "ca-certificates"};
// What nobody reads in a sandbox.
constexpr const char* kLeftOut[] = {"/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*"};
// What apt has to know to reach its sources from here.
constexpr std::string_view kWays[] = {"Acquire::http", "Acquire::https", "Acquire::Check-"};

// To apt, "git-" is the removal of git, and "git+" its installation.
bool is_package(std::string_view name) {
  constexpr std::string_view kNotFirst = ".+-";
  return name.size() >= 2 && kNotFirst.find(name.front()) == std::string_view::npos &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.+-") == std::string_view::npos &&
      name.back() != '+' && name.back() != '-';
}

std::vector<std::string> apt_sources() {
  std::vector<std::string> files;
  std::error_code failure;
  if (fs::is_regular_file("/etc/apt/sources.list", failure)) files.emplace_back("/etc/apt/sources.list");
  for (fs::directory_iterator entry("/etc/apt/sources.list.d", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string kind = entry->path().extension();
    if (kind == ".list" || kind == ".sources") files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Its notes go to the progress as they come, and all it says is kept.
class BuilderWords final : public ByteSink {
 public:
  explicit BuilderWords(const ImageProgress& progress) : progress_(progress) {}
  Result<void> push(std::span<const char> bytes) override {
    const std::size_t seen = text_.rfind('\n') + 1;
    if (text_.size() < kLogBytesMax) text_.append(bytes.data(), bytes.size());
    const std::size_t end = text_.rfind('\n') + 1;
    for (const std::string_view line : pieces_of(std::string_view(text_).substr(seen, end - std::min(seen, end)))) {
      if (progress_ && line.starts_with("I: ")) progress_(printable(line.substr(3)));
    }
    return ok();
  }
  Result<void> finish() override { return ok(); }
  const std::string& text() const { return text_; }

 private:
  const ImageProgress& progress_;
  std::string text_;
};

Result<std::string> ways_of_apt(const Environment& environment, const CancelToken& cancel) {
  ProcessSpec spec;
  spec.argv = {"apt-config", "dump"};
  spec.env = environment;
  spec.deadline = Deadline::after(std::chrono::seconds(30));
  GUARD_TRY_ASSIGN(const CollectedProcess done, collect_process(spec, kLogBytesMax, cancel));
  std::string text;
  for (const std::string_view line : pieces_of(done.out)) {
    if (std::ranges::any_of(kWays, [&](std::string_view way) { return line.starts_with(way); }))
      text += fmt::format("{}\n", line);
  }
  return text;
}

Result<void> run_builder(const DebianRequest& request, Environment environment, const fs::path& work,
    const CancelToken& cancel, const ImageProgress& progress) {
  std::vector<std::string> packages(std::begin(kCommonPackages), std::end(kCommonPackages));
  packages.emplace_back(kPackages[static_cast<std::size_t>(request.base)]);
  packages.insert(packages.end(), request.packages.begin(), request.packages.end());
  std::erase(packages, "");
  const std::vector<std::string> sources = apt_sources();
  if (sources.empty())
    return Error(ErrorCode::dependency_unsatisfied,
        "this machine has no apt sources, and templates are made of Debian's packages")
        .hint("make the image on a Debian, and use `guard image import` here");
  environment["PATH"] = value_of(environment, "PATH") + ":/usr/sbin:/sbin";
  GUARD_TRY_ASSIGN(const std::string ways, ways_of_apt(environment, cancel));
  GUARD_TRY(write_file_atomically(work / "apt.conf", ways));

  ProcessSpec spec;
  spec.argv = {"mmdebstrap", "--variant=minbase", "--format=tar", fmt::format("--include={}", fmt::join(packages, ",")),
      fmt::format("--aptopt={}", (work / "apt.conf").string())};
  for (const char* left_out : kLeftOut) spec.argv.push_back(fmt::format("--dpkgopt=path-exclude={}", left_out));
  spec.argv.emplace_back("");  // the suite is what the sources say
  spec.argv.push_back((work / "root.tar").string());
  spec.argv.insert(spec.argv.end(), sources.begin(), sources.end());
  spec.env = std::move(environment);
  spec.deadline = Deadline::after(kBuildMax);
  spec.death_signal = SIGTERM;  // it removes its own folder
  BuilderWords words(progress);
  GUARD_TRY_ASSIGN(const ProcessResult done, run_process(spec, words, words, cancel));
  if (done.outcome.kind == OutcomeKind::cancelled)
    return Error(ErrorCode::cancelled, "stopped while building the image");
  if (done.outcome.kind == OutcomeKind::exited && done.outcome.value == 0) return ok();
  GUARD_TRY_ASSIGN(const fs::path cache, cache_folder());
  const fs::path log = cache / "image-build.log";
  GUARD_TRY(write_file_atomically(log, words.text(), 0600));
  std::vector<std::string_view> lines = pieces_of(words.text());
  std::erase_if(lines, [](std::string_view line) { return !line.starts_with("E: "); });
  std::string last;
  for (std::size_t at = lines.size() - std::min(lines.size(), kShownLines); at < lines.size(); ++at)
    last += fmt::format("{}{}", last.empty() ? "" : "; ", printable(lines[at]));
  return Error(ErrorCode::image_build_failed, fmt::format("mmdebstrap did not make the image: {}", last))
      .hint(fmt::format("all it said is in {}{}", log.string(),
          ::geteuid() == 0
              ? ""
              : "; without root it needs the package uidmap, and ranges of yours in /etc/subuid and /etc/subgid"))
      .detail("stderr", last);
}

}  // namespace

Result<ImagePlan> build_debian_image(const DebianRequest& request, const Environment& environment,
    const CancelToken& cancel, const ImageProgress& progress) {
  for (const std::string& package : request.packages) {
    if (!is_package(package))
      return Error(ErrorCode::input_invalid, fmt::format("\"{}\" is no name of a Debian package", printable(package)))
          .hint("name packages as they are, without a version; those that end in + have another name, too: g++-12");
  }
  GUARD_TRY(check_image_name(request.name));
  if (!find_program("mmdebstrap", environment))
    return Error(
        ErrorCode::dependency_unsatisfied, "mmdebstrap is not installed, which makes images of Debian's packages")
        .hint("install it: apt install mmdebstrap");
  ImportRequest import;
  if (request.base == ImageTemplate::bun) {
    GUARD_TRY_ASSIGN(const fs::path bun, find_bun());
    import.programs = {{ bun, "usr/local/bin/bun" }};
  }
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  GUARD_TRY_ASSIGN(const TempDir work, TempDir::create(cache.folder()));
  GUARD_TRY(run_builder(request, environment, work.path(), cancel, progress));
  import.name = request.name;
  import.from = (work.path() / "root.tar").string();
  import.source = fmt::format("template {}{}{}", to_string(request.base), request.packages.empty() ? "" : " with ",
      fmt::join(request.packages, " "));
  import.without = {"etc/apt", "var/cache/apt", "var/lib/apt/lists"};
  return import_image(import, cancel, progress);
}

}  // namespace guard
