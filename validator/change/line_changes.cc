// How it works. What the two texts begin and end with alike is cut off, by bytes. Of the lines between, those that the
// other text does not hold at all are new (or gone) whatever else is true; what is left is compared by Myers'
// algorithm, which finds the longest common part at a cost that grows with the difference. Past a limit the rest of the
// middle counts as new in full.
#include "validator/change/line_changes.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace guard {
namespace {

// Far more than a person or a generator edits in one file; 4 MB and some tenths of a second are what they cost.
constexpr std::size_t kLinesMax = 1u << 18;     // of both middles together
constexpr std::size_t kDifferencesMax = 1'000;  // of the lines that both texts hold
constexpr std::uint64_t kStepsMax = 20'000'000;

constexpr std::uint32_t kLineMax = std::numeric_limits<std::uint32_t>::max();

std::uint64_t lines_in(std::string_view text) {
  const auto feeds = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return feeds + (text.empty() || text.back() == '\n' ? 0 : 1);
}

// With their line feeds: a last line without one is another line.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    const std::size_t size = feed == std::string_view::npos ? text.size() : feed + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

// What is left of two texts without the lines that they begin and end with alike.
struct Middle {
  std::string_view before;
  std::string_view after;
  std::uint64_t first_line = 0;  // lines of `after` in front
};

Middle middle_of(std::string_view before, std::string_view after) {
  Middle middle{before, after, 0};
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t same = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(shorter), after.begin()).first -
      before.begin());
  if (same < before.size() || same < after.size())
    same = after.substr(0, same).rfind('\n') + 1;  // npos + 1 is 0: no whole line
  middle.first_line = lines_in(after.substr(0, same));
  middle.before.remove_prefix(same);
  middle.after.remove_prefix(same);

  const std::string_view left = middle.before;
  const std::string_view right = middle.after;
  std::size_t size = 0;
  const std::size_t most = std::min(left.size(), right.size());
  while (size < most && left[left.size() - 1 - size] == right[right.size() - 1 - size]) ++size;
  const auto starts_line = [size](std::string_view text) {
    return text.size() == size || text[text.size() - size - 1] == '\n';
  };
  if (size > 0 && !(starts_line(left) && starts_line(right))) {
    const std::size_t feed = right.substr(right.size() - size).find('\n');
    size = feed == std::string_view::npos ? 0 : size - feed - 1;
  }
  middle.before.remove_suffix(size);
  middle.after.remove_suffix(size);
  return middle;
}

// Lines as numbers, the same for the same line; and only those that the other text holds, too.
struct Shared {
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
  std::vector<std::uint32_t> place;  // by place in `after`: the line's index in the middle
};

Shared shared_lines(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
  // Sorted and not hashed: nobody can write lines that make this slow.
  std::vector<std::string_view> known(before);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const auto number_of = [&known](std::string_view line) {
    const auto found = std::lower_bound(known.begin(), known.end(), line);
    return found == known.end() || *found != line ? known.size() : static_cast<std::size_t>(found - known.begin());
  };
  Shared shared;
  std::vector<bool> in_after(known.size() + 1);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::size_t number = number_of(after[i]);
    if (number == known.size()) continue;
    in_after[number] = true;
    shared.after.push_back(static_cast<std::uint32_t>(number));
    shared.place.push_back(static_cast<std::uint32_t>(i));
  }
  for (const auto line : before) {
    const std::size_t number = number_of(line);
    if (in_after[number]) shared.before.push_back(static_cast<std::uint32_t>(number));
  }
  return shared;
}

// Which of `after` are kept in a longest common subsequence; false: too different to be told.
bool keep_common(
    const std::vector<std::uint32_t>& before, const std::vector<std::uint32_t>& after, std::vector<bool>& kept) {
  const auto height = static_cast<std::ptrdiff_t>(before.size());
  const auto width = static_cast<std::ptrdiff_t>(after.size());
  // reached[d] has, for the diagonals -d, -d + 2, ... d (after minus before), how far `after` gets with d differences.
  std::vector<std::vector<std::ptrdiff_t>> reached;
  std::uint64_t steps = 0;
  std::ptrdiff_t end_diagonal = 0;
  // Where d differences on `diagonal` begin: one line added (right) or one removed (down) behind d - 1 of them.
  const auto start_of = [&reached](std::ptrdiff_t d, std::ptrdiff_t diagonal) {
    if (d == 0) return std::ptrdiff_t{0};
    const auto& last = reached[static_cast<std::size_t>(d - 1)];
    const auto of = [&](std::ptrdiff_t k) { return last[static_cast<std::size_t>((k + d - 1) / 2)]; };
    if (diagonal == -d) return of(diagonal + 1);
    if (diagonal == d) return of(diagonal - 1) + 1;
    return std::max(of(diagonal + 1), of(diagonal - 1) + 1);
  };
  for (std::ptrdiff_t d = 0;; ++d) {
    if (d > static_cast<std::ptrdiff_t>(kDifferencesMax)) return false;
    std::vector<std::ptrdiff_t> row;
    row.reserve(static_cast<std::size_t>(d) + 1);
    bool done = false;
    for (std::ptrdiff_t diagonal = -d; diagonal <= d && !done; diagonal += 2) {
      std::ptrdiff_t x = start_of(d, diagonal);
      while (x >= 0 && x < width && x - diagonal >= 0 && x - diagonal < height &&
          after[static_cast<std::size_t>(x)] == before[static_cast<std::size_t>(x - diagonal)]) {
        ++x;
        ++steps;
      }
      row.push_back(x);
      done = x >= width && x - diagonal >= height;
      if (done) end_diagonal = diagonal;
    }
    reached.push_back(std::move(row));
    if (done) break;
    steps += static_cast<std::uint64_t>(d);
    if (steps > kStepsMax) return false;
  }
  // Back along the way: what lies on a run down a diagonal is common.
  std::ptrdiff_t diagonal = end_diagonal;
  std::ptrdiff_t x = width;
  for (auto d = static_cast<std::ptrdiff_t>(reached.size()) - 1; d >= 0; --d) {
    const std::ptrdiff_t start = start_of(d, diagonal);
    for (; x > start; --x) kept[static_cast<std::size_t>(x - 1)] = true;
    if (d == 0) break;
    const auto& last = reached[static_cast<std::size_t>(d - 1)];
    const auto of = [&](std::ptrdiff_t k) { return last[static_cast<std::size_t>((k + d - 1) / 2)]; };
    const bool down = diagonal == -d || (diagonal != d && of(diagonal + 1) >= of(diagonal - 1) + 1);
    diagonal += down ? 1 : -1;
    x = down ? start : start - 1;
  }
  return true;
}

std::uint32_t line_number(std::uint64_t line) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(line, kLineMax));
}

}  // namespace

LineChanges compare_lines(std::string_view before, std::string_view after) {
  LineChanges changes;
  const Middle middle = middle_of(before, after);
  const std::uint64_t old_count = lines_in(middle.before);
  const std::uint64_t new_count = lines_in(middle.after);
  std::vector<bool> kept;
  std::uint64_t kept_count = 0;
  if (old_count > 0 && new_count > 0 && old_count + new_count <= kLinesMax) {
    const Shared shared = shared_lines(lines_of(middle.before), lines_of(middle.after));
    std::vector<bool> common(shared.after.size());
    kept.resize(static_cast<std::size_t>(new_count));
    if (keep_common(shared.before, shared.after, common)) {
      for (std::size_t i = 0; i < common.size(); ++i) {
        if (!common[i]) continue;
        kept[shared.place[i]] = true;
        ++kept_count;
      }
    }
  }
  changes.lines_added = new_count - kept_count;
  changes.lines_removed = old_count - kept_count;
  if (kept_count == 0) {
    if (new_count > 0)
      changes.added.emplace_back(line_number(middle.first_line + 1), line_number(middle.first_line + new_count));
    return changes;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) continue;
    const std::uint32_t line = line_number(middle.first_line + i + 1);
    if (!changes.added.empty() && changes.added.back().second + 1 == line) {
      changes.added.back().second = line;
    } else {
      changes.added.emplace_back(line, line);
    }
  }
  return changes;
}

void count_lines(ChangedFile& file) {
  const auto text_of = [](EntryKind kind, const std::string& bytes) {
    return kind == EntryKind::file || kind == EntryKind::executable ? std::string_view(bytes) : std::string_view();
  };
  // A link's target is a line of text to whoever reads the change.
  const std::string_view after =
      file.after == EntryKind::link ? std::string_view(file.new_bytes) : text_of(file.after, file.new_bytes);
  LineChanges changes = compare_lines(text_of(file.before, file.old_bytes), after);
  file.added = std::move(changes.added);
  file.lines_added = changes.lines_added;
  file.lines_removed = changes.lines_removed;
}

}  // namespace guard
