// Does a file delete nothing but temporary folders that it made itself? True only where every removal is fs.rm(name),
// fs.rmSync(name) and so on, of a name that is given nothing but what mkdtemp returned, or of path.join(name, "one
// part"): an entry of that folder, which is itself deleted where it is a link. What lies deeper does not count: a part
// on the way may be a link.
#pragma once

#include <string_view>

#include "validator/judge/code_text.h"
#include "validator/views/source_view.h"

namespace guard {

// `bytes`: what the views were built from.
bool removes_only_own_folders(const SourceViews& views, std::string_view bytes);

}  // namespace guard
