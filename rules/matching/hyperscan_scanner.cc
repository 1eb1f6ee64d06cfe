#include "rules/matching/hyperscan_scanner.h"

#include <fmt/format.h>
#include <hs/hs.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

extern "C" bool guard_hyperscan_available();  // cmake/hyperscan_parts.cc

namespace guard {
namespace {

// No HS_FLAG_SOM_LEFTMOST: it refuses patterns as too large and is several times slower; RE2 finds the starts.
// No HS_FLAG_UTF8: its meaning on invalid UTF-8 is undefined, and hostile files are just that.
constexpr unsigned kFlags = 0;

constexpr std::size_t kImageAlignment = 64;

const hs_database_t* as_database(const void* pointer) { return static_cast<const hs_database_t*>(pointer); }

Error engine_error(std::string_view what, hs_error_t code) {
  return Error(ErrorCode::internal, fmt::format("Hyperscan failed to {} (error {})", what, code));
}

struct CompileErrorOwner {
  hs_compile_error_t* error = nullptr;
  ~CompileErrorOwner() { hs_free_compile_error(error); }
  std::string_view message() const {
    return error != nullptr && error->message != nullptr ? error->message : "no reason given";
  }
};

// hs.h has no function to free what it allocated by its misc allocator; we never replace that one.
struct Freed {
  void operator()(void* pointer) const noexcept { std::free(pointer); }
};

// Without the features that the matchers left out by cmake/GuardLibraries.cmake would have needed.
hs_platform_info_t platform_of_machine() noexcept {
  hs_platform_info_t platform{};
  if (hs_populate_platform(&platform) != HS_SUCCESS) return {};
  platform.cpu_features &= HS_CPU_FEATURES_AVX2;
  return platform;
}

int on_match(unsigned id, unsigned long long, unsigned long long to, unsigned, void* context) noexcept {
  return static_cast<HyperscanScanner::Ends*>(context)->end(id, static_cast<std::size_t>(to)) ? 0 : 1;
}

}  // namespace

HyperscanScanner::Scratch::Scratch(Scratch&& other) noexcept
    : scratch_(std::exchange(other.scratch_, nullptr)), served_(std::exchange(other.served_, {})) {}
HyperscanScanner::Scratch& HyperscanScanner::Scratch::operator=(Scratch&& other) noexcept {
  std::swap(scratch_, other.scratch_);
  std::swap(served_, other.served_);
  return *this;
}
HyperscanScanner::Scratch::~Scratch() { hs_free_scratch(static_cast<hs_scratch_t*>(scratch_)); }

HyperscanScanner::HyperscanScanner(const void* database, void* owned) : database_(database), owned_(owned) {
  static std::atomic<std::uint64_t> ids{0};
  id_ = ++ids;
}

HyperscanScanner::HyperscanScanner(HyperscanScanner&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)),
      owned_(std::exchange(other.owned_, nullptr)),
      id_(other.id_) {}
HyperscanScanner& HyperscanScanner::operator=(HyperscanScanner&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(owned_, other.owned_);
  std::swap(id_, other.id_);
  return *this;
}
HyperscanScanner::~HyperscanScanner() { hs_free_database(static_cast<hs_database_t*>(owned_)); }

// Hyperscan is content with SSSE3, but its matchers for that are left out, too.
bool HyperscanScanner::available() noexcept {
#if defined(__x86_64__)
  return guard_hyperscan_available();
#else
  return hs_valid_platform() == HS_SUCCESS;
#endif
}

std::string HyperscanScanner::library_version() { return hs_version(); }

std::string HyperscanScanner::machine() {
  const hs_platform_info_t platform = platform_of_machine();
  return fmt::format("tune {} features {:x}", platform.tune, platform.cpu_features);
}

Result<HyperscanScanner::Widths> HyperscanScanner::widths(std::string_view regex) {
  const std::string text(regex);
  hs_expr_info_t* info = nullptr;
  CompileErrorOwner problem;
  const hs_error_t code = hs_expression_info(text.c_str(), kFlags, &info, &problem.error);
  const std::unique_ptr<hs_expr_info_t, Freed> owner(info);
  if (code == HS_COMPILER_ERROR) {
    return Error(ErrorCode::rules_invalid, fmt::format("Hyperscan refuses the regex: {}", problem.message()));
  }
  if (code != HS_SUCCESS || info == nullptr) return engine_error("read a regex", code);
  return Widths{info->min_width, info->max_width};
}

Result<HyperscanScanner> HyperscanScanner::compile(std::span<const Source> sources, Target target) {
  std::vector<std::string> texts;
  std::vector<const char*> expressions;
  std::vector<unsigned> flags(sources.size(), kFlags);
  std::vector<unsigned> ids;
  for (const Source& source : sources) {
    texts.emplace_back(source.regex);
    ids.push_back(source.id);
  }
  for (const std::string& text : texts) expressions.push_back(text.c_str());
  // All zero is HS_TUNE_FAMILY_GENERIC without features.
  const hs_platform_info_t platform = target == Target::any_machine ? hs_platform_info_t{} : platform_of_machine();
  hs_database_t* database = nullptr;
  CompileErrorOwner problem;
  const hs_error_t code = hs_compile_multi(expressions.data(), flags.data(), ids.data(),
      static_cast<unsigned>(expressions.size()), HS_MODE_BLOCK, &platform, &database, &problem.error);
  if (code == HS_COMPILER_ERROR) {
    return Error(ErrorCode::rules_invalid, fmt::format("Hyperscan refuses the regex: {}", problem.message()));
  }
  if (code != HS_SUCCESS) return engine_error("compile patterns", code);
  return HyperscanScanner(database, database);
}

Result<HyperscanScanner> HyperscanScanner::deserialize(std::string_view bytes) {
  hs_database_t* database = nullptr;
  const hs_error_t code = hs_deserialize_database(bytes.data(), bytes.size(), &database);
  if (code != HS_SUCCESS) return engine_error("read a serialized database", code);
  return HyperscanScanner(database, database);
}

Result<std::string> HyperscanScanner::serialize() const {
  char* bytes = nullptr;
  std::size_t length = 0;
  const hs_error_t code = hs_serialize_database(as_database(database_), &bytes, &length);
  if (code != HS_SUCCESS) return engine_error("serialize a database", code);
  const std::unique_ptr<char, Freed> owner(bytes);
  return std::string(bytes, length);
}

Result<std::string> HyperscanScanner::image() const {
  GUARD_TRY_ASSIGN(const std::string bytes, serialize());
  std::size_t length = 0;
  hs_error_t code = hs_serialized_database_size(bytes.data(), bytes.size(), &length);
  if (code != HS_SUCCESS) return engine_error("measure a database", code);
  const std::size_t rounded = (length + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  const std::unique_ptr<void, Freed> memory(std::aligned_alloc(kImageAlignment, rounded));
  if (memory == nullptr) return Error(ErrorCode::internal, "out of memory");
  std::memset(memory.get(), 0, rounded);
  code = hs_deserialize_database_at(bytes.data(), bytes.size(), static_cast<hs_database_t*>(memory.get()));
  if (code != HS_SUCCESS) return engine_error("lay out a database", code);
  return std::string(static_cast<const char*>(memory.get()), rounded);
}

Result<HyperscanScanner> HyperscanScanner::from_image(std::string_view image, std::string_view library_version) {
  if (library_version != hs_version())
    return Error(ErrorCode::internal, "the database is of another Hyperscan version");
  if (reinterpret_cast<std::uintptr_t>(image.data()) % kImageAlignment != 0) {
    return Error(ErrorCode::internal, "the database is not aligned");
  }
  const auto* database = reinterpret_cast<const hs_database_t*>(image.data());
  std::size_t length = 0;
  const hs_error_t code = hs_database_size(database, &length);
  if (code != HS_SUCCESS) return engine_error("open the built-in database", code);
  if (length > image.size()) return Error(ErrorCode::internal, "the database is cut off");
  return HyperscanScanner(database, nullptr);
}

Result<void> HyperscanScanner::scan(std::string_view text, Scratch& scratch, Ends& ends) const {
  if (text.size() > std::numeric_limits<unsigned>::max()) {
    return Error(ErrorCode::input_invalid, "a text of 4 GB or more can't be matched");
  }
  if (text.empty()) return ok();  // no pattern matches the empty text, and hs_scan() refuses a null pointer
  auto* space = static_cast<hs_scratch_t*>(scratch.scratch_);
  if (std::find(scratch.served_.begin(), scratch.served_.end(), id_) == scratch.served_.end()) {
    // One scratch grows to serve all databases it has met. Asked once for each: the question alone reads the database
    // through for its checksum, which takes longer than scanning a small file.
    const hs_error_t code = hs_alloc_scratch(as_database(database_), &space);
    scratch.scratch_ = space;
    if (code != HS_SUCCESS) return engine_error("get working memory", code);
    scratch.served_.push_back(id_);
  }
  const hs_error_t code =
      hs_scan(as_database(database_), text.data(), static_cast<unsigned>(text.size()), 0, space, on_match, &ends);
  if (code != HS_SUCCESS) return engine_error("scan", code);
  return ok();
}

}  // namespace guard
