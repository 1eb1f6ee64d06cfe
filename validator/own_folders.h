// Does a file delete nothing but temporary folders that it made itself? True only where every removal is fs.rm(name), fs.rmSync(name)
// and so on, of a name that is given nothing but what mkdtemp returned. A path below such a folder does not count: it may be a link.
#pragma once

#include "validator/source_view.h"

namespace guard {

bool removes_only_own_folders(const SourceViews& views);

}  // namespace guard
