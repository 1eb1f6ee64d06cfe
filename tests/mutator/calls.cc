// Other spellings of f(x).
#include <fmt/format.h>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

enum class Shape { any, name, member, name_or_member, free };

bool has_shape(const Source& source, const Call& call, Shape shape) {
  const bool name = call.begin + 1 == call.open;
  const bool member = call.begin + 3 == call.open && source.is(call.begin + 1, ".") && source.is_name(call.begin);
  switch (shape) {
    case Shape::any: return true;
    case Shape::name: return name;
    case Shape::member: return member;
    case Shape::name_or_member: return name || member;
    case Shape::free: return name || (member && is_free_receiver(source.at(call.begin)));
  }
  return false;
}

bool pick_call(const Source& source, Random& random, Shape shape, Call& out, bool opens_bracket = false) {
  const std::vector<Call> all = source.calls();
  std::vector<std::size_t> sites;
  for (const Call& call : all) {
    // await (import(...)) and the like are left alone; `this` of what is called on an optional chain too.
    if (source.is(call.begin, "import") || !has_shape(source, call, shape)) continue;
    if (opens_bracket && !source.may_open_bracket(call.begin)) continue;
    sites.push_back(call.open);
  }
  const std::size_t open = pick_site(source, sites, random);
  for (const Call& call : all) {
    if (call.open == open) out = call;
  }
  return open != kNone;
}

std::string receiver(const Source& source, const Call& call, Random& random) {
  if (call.begin + 1 != call.open) return std::string(source.at(call.begin));
  return random.pick({"undefined", "null", "void 0", "globalThis"});
}

std::string arguments(const Source& source, const Call& call) {
  return call.open + 1 == call.close ? "" : std::string(source.between(call.open + 1, call.close - 1));
}

std::string callee(const Source& source, const Call& call) {
  return std::string(source.between(call.begin, call.open - 1));
}

bool optional_call(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::any, call)) return false;
  if (!source.is_read(call.begin, source.chain_end(call.close))) return false;
  const std::size_t at = source.token(call.open).begin;
  edits.push_back({at, at, "?."});
  return true;
}

bool replace(const Source& source, const Call& call, std::vector<Edit>& edits, std::string text) {
  const Range range = source.range(call.begin, call.close);
  edits.push_back({range.begin, range.end, std::move(text)});
  return true;
}

bool call_method(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::name_or_member, call)) return false;
  const std::string args = arguments(source, call);
  return replace(source, call, edits,
      fmt::format(
          "{}.call({}{}{})", callee(source, call), receiver(source, call, random), args.empty() ? "" : ", ", args));
}

bool apply_method(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::name_or_member, call)) return false;
  return replace(source, call, edits,
      fmt::format("{}.apply({}, [{}])", callee(source, call), receiver(source, call, random), arguments(source, call)));
}

bool bind_method(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::name_or_member, call)) return false;
  return replace(source, call, edits,
      fmt::format("{}.bind({})({})", callee(source, call), receiver(source, call, random), arguments(source, call)));
}

bool bind_arguments(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::name_or_member, call)) return false;
  const std::string args = arguments(source, call);
  return replace(source, call, edits,
      fmt::format(
          "{}.bind({}{}{})()", callee(source, call), receiver(source, call, random), args.empty() ? "" : ", ", args));
}

bool reflect_apply(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::name_or_member, call)) return false;
  return replace(source, call, edits,
      fmt::format("Reflect.apply({}, {}, [{}])", callee(source, call), receiver(source, call, random),
          arguments(source, call)));
}

bool around_callee(const Source& source, Random& random, std::vector<Edit>& edits, Shape shape, std::string_view before,
    std::string_view behind) {
  Call call;
  if (!pick_call(source, random, shape, call, true)) return false;
  const Range range = source.range(call.begin, call.open - 1);
  edits.push_back({range.begin, range.begin, std::string(before)});
  edits.push_back({range.end, range.end, std::string(behind)});
  return true;
}

bool comma_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_callee(source, random, edits, Shape::free, random.one_in(2) ? "(0, " : "(void 0, ", ")");
}
bool parenthesized_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  return random.one_in(2) ? around_callee(source, random, edits, Shape::any, "(", ")")
                          : around_callee(source, random, edits, Shape::any, "((", "))");
}
bool cast_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_callee(source, random, edits, Shape::any, random.one_in(3) ? "(<any>" : "(",
      random.one_in(2) ? " as any)" : " satisfies any)");
}
bool array_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_callee(source, random, edits, Shape::free, "[", "][0]");
}
bool function_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_callee(source, random, edits, Shape::free, "(() => ", ")()");
}
bool logic_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_callee(source, random, edits, Shape::free, random.one_in(2) ? "(true && " : "(null ?? ", ")");
}

bool non_null_callee(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::any, call)) return false;
  const std::size_t at = source.token(call.open - 1).end;
  edits.push_back({at, at, "!"});
  return true;
}

// The whole call, or what it is called on, inside of something.
bool around_call(
    const Source& source, Random& random, std::vector<Edit>& edits, std::string_view before, std::string_view behind) {
  Call call;
  if (!pick_call(source, random, Shape::any, call, true)) return false;
  const std::size_t end = source.chain_end(call.close);
  if (!source.is_read(call.begin, end)) return false;
  const Range range = source.range(call.begin, end);
  edits.push_back({range.begin, range.begin, std::string(before)});
  edits.push_back({range.end, range.end, std::string(behind)});
  return true;
}
bool comma_call(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_call(source, random, edits, "(void 0, ", ")");
}
bool cast_call(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around_call(source, random, edits, "(", random.one_in(2) ? " as any)" : ")");
}

bool spread_arguments(const Source& source, Random& random, std::vector<Edit>& edits) {
  Call call;
  if (!pick_call(source, random, Shape::any, call) || call.open + 1 == call.close) return false;
  const Range range = source.range(call.open, call.close);
  edits.push_back({range.begin, range.end, "(...[" + arguments(source, call) + "])"});
  return true;
}

}  // namespace

void add_call_mutations(std::vector<Mutation>& out) {
  out.push_back({"call.optional", optional_call});
  out.push_back({"call.call", call_method});
  out.push_back({"call.apply", apply_method});
  out.push_back({"call.bind", bind_method});
  out.push_back({"call.bind_arguments", bind_arguments});
  out.push_back({"call.reflect_apply", reflect_apply});
  out.push_back({"call.comma_callee", comma_callee});
  out.push_back({"call.parentheses", parenthesized_callee});
  out.push_back({"call.cast_callee", cast_callee});
  out.push_back({"call.array_callee", array_callee});
  out.push_back({"call.function_callee", function_callee});
  out.push_back({"call.logic_callee", logic_callee});
  out.push_back({"call.non_null_callee", non_null_callee});
  out.push_back({"call.comma", comma_call});
  out.push_back({"call.cast", cast_call});
  out.push_back({"call.spread", spread_arguments});
}

}  // namespace guard::mutator
