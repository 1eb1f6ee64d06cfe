// Comments, blanks and line ends between tokens.
#include <algorithm>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

bool insert_at_sites(const Source& source, Random& random, std::vector<Edit>& edits, bool breaks_line,
    const std::vector<std::string>& texts) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (breaks_line ? source.may_break_line(i) : source.may_insert_blank(i)) sites.push_back(i);
  }
  const std::size_t times = 1 + random.below(4);
  std::vector<std::size_t> used;
  for (std::size_t turn = 0; turn < times; ++turn) {
    const std::size_t site = pick_site(source, sites, random);
    if (site == kNone) return false;
    if (std::find(used.begin(), used.end(), site) != used.end()) continue;
    used.push_back(site);
    const std::size_t at = source.token(site).begin;
    edits.push_back({at, at, random.pick(texts)});
  }
  return true;
}

bool comment(const Source& source, Random& random, std::vector<Edit>& edits) {
  return insert_at_sites(source, random, edits, false,
      {"/* */", "/**/", "/* it's */", "/* ` */", "/* \" */", "/* ${ */", "/* // */", "/*/ */", "/* process */", "/***/",
          "/* <a> */"});
}

bool line_comment(const Source& source, Random& random, std::vector<Edit>& edits) {
  return insert_at_sites(source, random, edits, true,
      {"// it's\n", "//\n", "// `\n", "// */\n", "// /*\n", "/* a\n * b */", "// \xe2\x80\xa8", "// ${\r\n"});
}

bool exotic_blank(const Source& source, Random& random, std::vector<Edit>& edits) {
  return insert_at_sites(source, random, edits, false,
      {"\v", "\f", "\t", "\xc2\xa0", "\xef\xbb\xbf", "\xe2\x80\x83", "\xe3\x80\x80", "\xe1\x9a\x80", " \v\f\t",
          "\xe2\x80\xaf"});
}

bool line_end(const Source& source, Random& random, std::vector<Edit>& edits) {
  return insert_at_sites(source, random, edits, true, {"\n", "\r\n", "\r", "\xe2\x80\xa8", "\xe2\x80\xa9", "\n\n\t\n"});
}

bool many_blanks(const Source& source, Random& random, std::vector<Edit>& edits) {
  return insert_at_sites(source, random, edits, false, {std::string(1200, ' '), std::string(1200, '\t')});
}

bool many_lines(const Source& source, Random& random, std::vector<Edit>& edits) {
  return insert_at_sites(source, random, edits, true, {std::string(600, '\n')});
}

bool byte_order_mark(const Source& source, Random&, std::vector<Edit>& edits) {
  if (source.text().substr(0, 3) == "\xef\xbb\xbf") return false;
  edits.push_back({0, 0, "\xef\xbb\xbf"});
  return true;
}

}  // namespace

void add_blank_mutations(std::vector<Mutation>& out) {
  out.push_back({"blank.comment", comment});
  out.push_back({"blank.line_comment", line_comment});
  out.push_back({"blank.exotic", exotic_blank});
  out.push_back({"blank.line_end", line_end});
  out.push_back({"blank.1200", many_blanks});
  out.push_back({"blank.600_lines", many_lines});
  out.push_back({"blank.byte_order_mark", byte_order_mark});
}

}  // namespace guard::mutator
