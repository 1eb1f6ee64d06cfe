#include "validator/made_up_files.h"

#include <algorithm>
#include <string>

#include "common/text/characters.h"
#include "common/text/glob.h"
#include "rules/surface.h"
#include "validator/views/view_writer.h"

namespace guard {

bool is_made_up_file(std::string_view path) {
  if (path.starts_with('~') || path.starts_with('/')) return false;
  const std::string lower = lower_case(path);
  std::string_view rest = lower;
  if (const std::size_t up = rest.rfind("../"); up != std::string_view::npos) rest.remove_prefix(up + 3);
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    if (is_word_of("made_up_files", rest.substr(0, slash))) return true;
    rest.remove_prefix(slash + 1);
  }
  const auto globs = word_list("made_up_files");
  return std::any_of(globs.begin(), globs.end(), [&](const SurfaceRow& row) {
    return row.name.find('*') != std::string_view::npos && glob_matches(row.name, rest);
  });
}

WrittenPaths::WrittenPaths(const SourceViews& views) : views_(views) {
  const std::string_view strings = views.view(View::strings);
  const std::string mark = kEntryBegin + std::string(kWritesCallee) + kEntryText;
  for (std::size_t at = strings.find(mark); at != std::string_view::npos; at = strings.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    const std::size_t end = strings.find(kEntryEnd, begin);
    const TextSpan place = views.original(View::strings, begin, end);
    first_.emplace(strings.substr(begin, end - begin), begin);
    places_.emplace(place.begin, place.end);
  }
}

bool WrittenPaths::covers(std::size_t begin, std::size_t end) const {
  const TextSpan place = views_.original(View::strings, begin, end);
  if (places_.count({place.begin, place.end}) > 0) return true;
  const std::string_view path = views_.view(View::strings).substr(begin, end - begin);
  const bool is_own = path.starts_with(kWildcard) || path.starts_with("/tmp/");
  const auto written = first_.find(path);
  return is_own && written != first_.end() && written->second < begin;
}

}  // namespace guard
