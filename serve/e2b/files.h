// Files of a sandbox in E2B's interface: filesystem.Filesystem, and /files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/api.h"
#include "serve/e2b/sandboxes.h"

namespace guard::serve::e2b {

// A path as the clients say it: absolute, or below the home folder, which they call /home/user.
std::string inside(std::string_view path);
std::string absolute(const Sandbox& sandbox, const std::string& path);  // still under the name that the client gave
// Where a program is to start, and HOME and PWD, unless it has them: so shells call it as the client does.
void start_in(const Sandbox& sandbox, const std::string& folder, TaskSpec& spec);

void call_filesystem(
    Sandboxes& sandboxes, Sandbox& sandbox, std::string_view method, const Request& request, Answer& answer);
// An Error where half a file is on its way.
Result<void> read_or_write_files(Sandboxes& sandboxes, Sandbox& sandbox, const Request& request, Answer& answer);

struct FormFile {
  std::string name;  // as the client has named it
  std::string_view bytes;
};
// What gzip has packed (RFC 1952) in one member, and how much that says to be. INPUT_INVALID, also for more or less.
std::size_t gunzipped_size(std::string_view packed);
Result<std::string> gunzip(std::string_view packed);

// The files of a multipart/form-data body (RFC 7578). INPUT_INVALID.
Result<std::vector<FormFile>> form_files(std::string_view content_type, std::string_view body);

}  // namespace guard::serve::e2b
