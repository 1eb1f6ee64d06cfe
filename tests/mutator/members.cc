// Other spellings of x.y.
#include <fmt/format.h>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

struct Member {
  std::size_t begin = 0;  // first token of x
  std::size_t dot = 0;
};

std::vector<Member> members(const Source& source) {
  std::vector<Member> found;
  for (std::size_t dot = 1; dot + 1 < source.size(); ++dot) {
    if (!source.is(dot, ".") || !source.is_kind(dot + 1, TokenKind::word) || source.at(dot + 1)[0] == '#') continue;
    if (source.is(dot - 1, "import") || source.is(dot - 1, "new") || source.is(dot - 1, "super")) continue;
    const std::size_t begin = source.chain_begin(dot - 1);
    if (begin == kNone) continue;
    // In a type a member is no expression.
    if (!source.is_read(begin, dot + 1) && !source.is(dot + 2, "=")) continue;
    if (source.is_name(begin) && !source.is_reference(begin)) continue;
    found.push_back({begin, dot});
  }
  return found;
}

template <typename Wanted>
bool pick_member(const Source& source, Random& random, Member& out, Wanted wanted) {
  const std::vector<Member> all = members(source);
  std::vector<std::size_t> sites;
  for (const Member& member : all) {
    if (wanted(member)) sites.push_back(member.dot);
  }
  const std::size_t dot = pick_site(source, sites, random);
  for (const Member& member : all) {
    if (member.dot == dot) out = member;
  }
  return dot != kNone;
}

bool is_read_as_whole(const Source& source, const Member& member) {
  return source.is_read(member.begin, source.chain_end(member.dot + 1));
}

std::string in_quotes(std::string_view name, Random& random) {
  const char quote = random.pick({'"', '\'', '`'});
  return fmt::format("{}{}{}", quote, name, quote);
}

bool brackets(const Source& source, Random& random, std::vector<Edit>& edits) {
  Member member;
  if (!pick_member(source, random, member, [](const Member&) { return true; })) return false;
  const Range range = source.range(member.dot, member.dot + 1);
  edits.push_back({range.begin, range.end, "[" + in_quotes(source.at(member.dot + 1), random) + "]"});
  return true;
}

bool optional(const Source& source, Random& random, std::vector<Edit>& edits) {
  Member member;
  if (!pick_member(source, random, member, [&](const Member& m) { return is_read_as_whole(source, m); })) return false;
  const Range range = source.range(member.dot, member.dot);
  edits.push_back({range.begin, range.end, "?."});
  return true;
}

bool optional_brackets(const Source& source, Random& random, std::vector<Edit>& edits) {
  Member member;
  if (!pick_member(source, random, member, [&](const Member& m) { return is_read_as_whole(source, m); })) return false;
  const Range range = source.range(member.dot, member.dot + 1);
  edits.push_back({range.begin, range.end, "?.[" + in_quotes(source.at(member.dot + 1), random) + "]"});
  return true;
}

bool non_null(const Source& source, Random& random, std::vector<Edit>& edits) {
  Member member;
  if (!pick_member(source, random, member, [&](const Member& m) { return !source.is(m.begin - 1, "new"); }))
    return false;
  const std::size_t at = source.token(member.dot - 1).end;
  edits.push_back({at, at, "!"});
  return true;
}

// Puts the x of x.y into something.
bool around_object(const Source& source, Random& random, std::vector<Edit>& edits, std::string_view before,
    std::string_view behind, bool single_name) {
  Member member;
  const auto wanted = [&](const Member& m) {
    return source.may_open_bracket(m.begin) && (!single_name || m.begin + 1 == m.dot) &&
        !source.is(m.begin, "import") && is_read_as_whole(source, m) && !source.is(m.begin, "(");
  };
  if (!pick_member(source, random, member, wanted)) return false;
  const Range range = source.range(member.begin, member.dot - 1);
  edits.push_back({range.begin, range.begin, std::string(before)});
  edits.push_back({range.end, range.end, std::string(behind)});
  return true;
}

bool cast(const Source& source, Random& random, std::vector<Edit>& edits) {
  const char* const type = random.pick(
      {"any", "unknown as any", "Record<string, any>", "typeof globalThis & any", "{ [k: string]: any }", "never"});
  return around_object(source, random, edits, "(", fmt::format(" as {})", type), false);
}
bool old_cast(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_object(source, random, edits, random.one_in(3) ? "(<any><unknown>" : "(<any>", ")", false);
}
bool satisfies(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_object(source, random, edits, "(", " satisfies any)", false);
}
bool parentheses(const Source& source, Random& random, std::vector<Edit>& edits) {
  return random.one_in(2) ? around_object(source, random, edits, "(", ")", false)
                          : around_object(source, random, edits, "((", "))", false);
}
bool comma(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_object(source, random, edits, random.one_in(2) ? "(0, " : "(void 0, ", ")", true);
}
bool logic(const Source& source, Random& random, std::vector<Edit>& edits) {
  const char* const behind = random.pick({" || {})", " ?? {})", " as any ?? {})"});
  return around_object(source, random, edits, "(", behind, true);
}
bool condition(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_object(source, random, edits, "(true && ", ")", true);
}
bool from_function(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_object(source, random, edits, "(() => ", ")()", true);
}

bool reflect_get(const Source& source, Random& random, std::vector<Edit>& edits) {
  Member member;
  const auto wanted = [&](const Member& m) {
    const bool called = source.is(m.dot + 2, "(");
    return m.begin + 1 == m.dot && is_read_as_whole(source, m) && (!called || is_free_receiver(source.at(m.begin)));
  };
  if (!pick_member(source, random, member, wanted)) return false;
  const Range range = source.range(member.begin, member.dot + 1);
  edits.push_back({range.begin, range.end,
      fmt::format("Reflect.get({}, {})", source.at(member.begin), in_quotes(source.at(member.dot + 1), random))});
  return true;
}

bool descriptor(const Source& source, Random& random, std::vector<Edit>& edits) {
  Member member;
  const auto wanted = [&](const Member& m) {
    return m.begin + 1 == m.dot && is_read_as_whole(source, m) && source.is(m.begin, "process") &&
        (source.is(m.dot + 1, "env") || source.is(m.dot + 1, "exit"));
  };
  if (!pick_member(source, random, member, wanted)) return false;
  const Range range = source.range(member.begin, member.dot + 1);
  edits.push_back({range.begin, range.end,
      fmt::format("Object.getOwnPropertyDescriptor({}, {})!.value", source.at(member.begin),
          in_quotes(source.at(member.dot + 1), random))});
  return true;
}

// x["y"], where it is written so, becomes x.y.
bool dot(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 2; i + 1 < source.size(); ++i) {
    std::string value;
    if (!source.is_kind(i, TokenKind::string) || !source.is(i - 1, "[") || !source.is(i + 1, "]")) continue;
    if (!source.is_name(i - 2) || !source.plain_value(i, value) || value.empty()) continue;
    bool plain = value[0] < '0' || value[0] > '9';
    for (const char c : value)
      plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
    if (plain) sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  std::string value;
  source.plain_value(site, value);
  const Range range = source.range(site - 1, site + 1);
  edits.push_back({range.begin, range.end, "." + value});
  return true;
}

}  // namespace

void add_member_mutations(std::vector<Mutation>& out) {
  out.push_back({"member.brackets", brackets});
  out.push_back({"member.optional", optional});
  out.push_back({"member.optional_brackets", optional_brackets});
  out.push_back({"member.non_null", non_null});
  out.push_back({"member.cast", cast});
  out.push_back({"member.old_cast", old_cast});
  out.push_back({"member.satisfies", satisfies});
  out.push_back({"member.parentheses", parentheses});
  out.push_back({"member.comma", comma});
  out.push_back({"member.logic", logic});
  out.push_back({"member.condition", condition});
  out.push_back({"member.function", from_function});
  out.push_back({"member.reflect_get", reflect_get});
  out.push_back({"member.descriptor", descriptor});
  out.push_back({"member.dot", dot});
}

}  // namespace guard::mutator
