// What scripts import and export, read from their tokens: enough to follow the imports of a test into src/, and to
// write modules that export the same names. Pure functions.
//
// Too many exports do no harm to a stub, one too few keeps a test from loading; so whatever may be exported is told.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace guard::nightly {

struct ModuleImport {
  std::string specifier;  // "../src/add"
  std::set<std::string>
      names;               // as the other module exports them: "add", "default"; empty: all of it, or its effects alone
  bool passed_on = false;  // export * from
};

// What an exported name is, as far as the first tokens of its declaration tell.
enum class ExportShape : std::uint8_t {
  anything,  // cannot be told: can be called, made with `new`, and asked for members
  function,
  async_function,
  generator,
  async_generator,
  a_class,
  text,
  number,
  boolean,
  null,
  list,
  object,
};

struct ModuleLinks {
  std::vector<ModuleImport>
      imports;  // static, dynamic and require, with a literal name; those of types alone are left out
  std::map<std::string, ExportShape> exports;
  bool common_js = false;  // it writes to `exports` or `module.exports`, or is named .cjs or .cts
};
ModuleLinks links_of(std::string_view path, std::string_view bytes);

// The file that `specifier`, standing in `importer`, means: a relative path without or with its ending, .js for .ts, or
// a folder with an index. Empty where it is none of `files`. Paths relative to the project and joined with '/'.
std::string resolve_import(std::string_view importer, std::string_view specifier, const std::set<std::string>& files);

// quiet: what is called gives undefined, so a test can only fail for what it expects of it. endless: gives something
// that can be called and asked for members again, for tests that take the result apart while they are loaded.
enum class StubKind : std::uint8_t { quiet, endless };

// A module that exports `exports`, each without any of its doing, and throws nothing.
std::string stub_module(const std::map<std::string, ExportShape>& exports, bool common_js, StubKind kind);

}  // namespace guard::nightly
