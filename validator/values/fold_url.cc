#include "validator/values/fold_url.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace guard {
namespace {

Value text_part(std::string_view text, Arena& arena) {
  Value value;
  value.kind = Value::Kind::text;
  value.text = arena.copy(text);
  return value;
}

Value decoded(std::string_view text, ValueLists& lists, Arena& arena) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '+', ' ');
  const Value part = text_part(plain, arena);
  return fold_function("decodeURIComponent", std::span(&part, 1), lists, arena);
}

Value search_params(std::string_view query, ValueLists& lists, Arena& arena) {
  std::vector<Value> entries;
  while (!query.empty() && entries.size() < kListMax) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    entries.push_back(decoded(pair.substr(0, equals), lists, arena));
    entries.push_back(decoded(pair.substr(std::min(equals + 1, pair.size())), lists, arena));
  }
  Value object;
  object.kind = Value::Kind::object;
  object.list = static_cast<std::uint32_t>(lists.size());
  lists.push_back(std::move(entries));
  return object;
}

}  // namespace

Value url_part(std::string_view url, std::string_view name, ValueLists& lists, Arena& arena) {
  if (url.size() > kTextMax) return {};
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || url.substr(0, colon).find_first_of("/?# ") != std::string_view::npos)
    return {};
  if (name == "protocol") return text_part(url.substr(0, colon + 1), arena);
  std::string_view rest = url.substr(colon + 1);
  const std::string_view hash = rest.substr(std::min(rest.find('#'), rest.size()));
  rest.remove_suffix(hash.size());
  const std::string_view search = rest.substr(std::min(rest.find('?'), rest.size()));
  rest.remove_suffix(search.size());
  std::string_view authority;
  if (rest.substr(0, 2) == "//") {
    rest.remove_prefix(2);
    authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
  }
  if (name == "hash") return text_part(hash, arena);
  if (name == "search") return text_part(search, arena);
  if (name == "pathname") return text_part(rest.empty() && !authority.empty() ? "/" : rest, arena);
  if (name == "searchParams")
    return search_params(search.substr(std::min<std::size_t>(1, search.size())), lists, arena);
  const std::size_t sign = authority.find('@');
  const std::string_view user = authority.substr(0, sign == std::string_view::npos ? 0 : sign);
  if (name == "username") return text_part(user.substr(0, user.find(':')), arena);
  if (name == "password") return text_part(user.substr(std::min(user.find(':'), user.size() - 1) + 1), arena);
  if (sign != std::string_view::npos) authority.remove_prefix(sign + 1);
  if (name == "host") return text_part(authority, arena);
  if (name == "port")
    return text_part(authority.substr(std::min(authority.rfind(':'), authority.size() - 1) + 1), arena);
  if (name != "hostname") return {};
  return text_part(authority.substr(0, authority.rfind(':')), arena);
}

}  // namespace guard
