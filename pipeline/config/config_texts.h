// What texts in a configuration may look like. Each rule answers what is wrong as the end of a sentence ("is empty"),
// or nothing.
#pragma once

#include <string>
#include <string_view>

namespace guard {

// Every text keeps this one, too: short, UTF-8, no control characters.
std::string_view any_text_rule(std::string_view text);

std::string_view reference_rule(std::string_view text);       // an image, a runtime; may be empty
std::string_view program_rule(std::string_view text);         // an absolute path; may be empty
std::string_view environment_id_rule(std::string_view text);  // of container-use; may be empty
std::string_view variable_rule(std::string_view text);        // an environment variable's name
std::string_view tool_rule(std::string_view text);            // a program's name
std::string_view id_rule(std::string_view text);              // of a rule, a task, a kind of secret
std::string_view path_rule(std::string_view text);
std::string_view allow_rule(std::string_view text);  // of [network]; a preset, too
std::string_view deny_rule(std::string_view text);
std::string_view proxy_rule(std::string_view text);  // may be empty
std::string_view url_rule(std::string_view text);    // of a page; may be empty
std::string_view glob_rule(std::string_view text);   // relative to the project

// For messages: the beginning of a value that may be hostile, made printable.
std::string shown_value(std::string_view text);

std::string_view trimmed(std::string_view text);

}  // namespace guard
