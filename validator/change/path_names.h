// Names as the most careless file system takes them: what is one name to us can be another one's second spelling where
// case, blanks at the end, streams or characters that nobody sees make no difference. For comparing, never for opening.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// One name between slashes. ".Git. ", ".git::$INDEX_ALLOCATION" and ".g\u200cit" all are ".git". Upper case and accents
// make no difference in Latin, Greek and Cyrillic; other scripts are compared as they stand. Bytes that are not UTF-8
// stay.
std::string folded_name(std::string_view name);

// Name by name, joined with '/'. A backslash parts names, too.
std::string folded_path(std::string_view path);
std::vector<std::string> folded_names(std::string_view path);

// Does a glob of a list of word_lists.toml match the name of one file or folder, in lower case?
bool is_listed(std::string_view name, std::string_view list);

// The short name that NTFS and FAT give to a longer one: "git~1", "packag~1.jso". `name` is folded.
bool is_short_name(std::string_view name) noexcept;

// What is wrong with `path` as the name of a file that every system takes for the same, as the end of "the name ...";
// empty: nothing.
std::string_view path_fault(std::string_view path) noexcept;

}  // namespace guard
