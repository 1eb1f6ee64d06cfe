#include "serve/e2b/files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "common/text/text.h"
#include "runner/tasks/watch_events.h"
#include "serve/e2b/rpc.h"
#include "sessions/entries.h"

namespace guard::serve::e2b {
namespace {

constexpr milliseconds kFileLimit{600'000};
constexpr milliseconds kLook{250};
constexpr milliseconds kAliveEvery{30'000};
constexpr std::uint64_t kDepthMax = 64;
constexpr std::string_view kWorkspace = "/workspace";
constexpr std::string_view kTheirHome = "/home/user";

std::string_view name_of(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string permissions(char type, std::uint32_t mode) {
  std::string text(1, type == 'd' ? 'd' : type == 'l' ? 'L' : '-');
  for (int bit = 8; bit >= 0; --bit) text += (mode >> bit & 1) != 0 ? "rwx"[(8 - bit) % 3] : '-';
  return text;
}

// `path`: as the client would name it.
ordered_json entry_json(const sessions::Entry& entry, const std::string& path) {
  const char* type = entry.type == 'd' ? "FILE_TYPE_DIRECTORY"
      : entry.type == 'l'              ? "FILE_TYPE_SYMLINK"
      : entry.type == 'f'              ? "FILE_TYPE_FILE"
                                       : "FILE_TYPE_UNSPECIFIED";
  ordered_json said = {{"name", name_of(path)}, {"type", type}, {"path", path}, {"size", std::to_string(entry.size)},
      {"mode", entry.mode & 07777}, {"permissions", permissions(entry.type, entry.mode)}, {"owner", "user"},
      {"group", "user"}, {"modifiedTime", time_text(entry.changed_ns / 1'000'000)}};
  const std::filesystem::path target = std::filesystem::path(path).parent_path() / entry.link;
  if (entry.type == 'l') said["symlinkTarget"] = target.lexically_normal().native();
  return said;
}

ordered_json event_json(const WatchEvent& event, const ordered_json& entry) {
  const char* type = event.kind == WatchKind::create ? "EVENT_TYPE_CREATE"
      : event.kind == WatchKind::write               ? "EVENT_TYPE_WRITE"
      : event.kind == WatchKind::remove              ? "EVENT_TYPE_REMOVE"
      : event.kind == WatchKind::rename              ? "EVENT_TYPE_RENAME"
                                                     : "EVENT_TYPE_CHMOD";
  ordered_json said = {{"name", event.path}, {"type", type}};
  if (!entry.is_null()) said["entry"] = entry;
  return {{"filesystem", std::move(said)}};
}

Result<void> watch(Sandboxes& sandboxes, Sandbox& sandbox, const Request& request, Answer& answer, MessageStream& out) {
  GUARD_TRY_ASSIGN(const json body, message_of(request.body));
  GUARD_TRY_ASSIGN(const bool recursive, flag(body, "recursive", false));
  GUARD_TRY_ASSIGN(const bool wants_entry, flag(body, "includeEntry", false));
  const std::string path = absolute(sandbox, text(body, "path"));
  const auto entry_of = [&](const WatchEvent& event) -> ordered_json {
    if (!wants_entry || event.kind == WatchKind::remove || event.kind == WatchKind::rename) return nullptr;
    const std::string at = fmt::format("{}/{}", path, event.path);
    const auto entry = sandboxes.manager().stat(sandbox.session(), inside(at), Deadline::after(kFileLimit));
    return entry ? entry_json(*entry, at) : ordered_json();
  };
  TaskSpec spec;
  spec.kind = TaskOperation::watch;
  spec.argv = {inside(path), recursive ? "2" : "1"};
  GUARD_TRY_ASSIGN(const auto task, sandboxes.start(sandbox, spec));
  WatchReader reader;
  bool begun = false;
  auto said = SteadyClock::now();
  while (answer.listening()) {
    auto piece = task->read(Deadline::after(kLook));
    if (!piece && piece.error().code() == ErrorCode::execution_timeout) {
      if (!begun || SteadyClock::now() - said < kAliveEvery) continue;
      GUARD_TRY(out.send({{"keepalive", ordered_json::object()}}));
      said = SteadyClock::now();
      continue;
    }
    if (!piece) return std::move(piece).error();
    if (!*piece) {
      GUARD_TRY(task->end());
      out.finish();
      return ok();
    }
    GUARD_TRY_ASSIGN(const auto events, reader.push((*piece)->bytes));
    for (const WatchEvent& event : events) {
      // Clients begin to listen with the first message; what was missed they can't be told.
      if (event.kind == WatchKind::begun) GUARD_TRY(out.send({{"start", ordered_json::object()}}));
      begun = begun || event.kind == WatchKind::begun;
      if (event.kind != WatchKind::begun && event.kind != WatchKind::missed && !event.path.empty())
        GUARD_TRY(out.send(event_json(event, entry_of(event))));
    }
    said = SteadyClock::now();
  }
  return ok();
}

Result<ordered_json> unary(
    sessions::Manager& manager, const Sandbox& sandbox, std::string_view method, const Request& request) {
  const std::string session = sandbox.session();
  GUARD_TRY_ASSIGN(const json body, object_of(request.body));
  const Deadline deadline = Deadline::after(kFileLimit);
  const std::string path = absolute(sandbox, text(body, "path"));
  const auto look = [&](const std::string& at) -> Result<ordered_json> {
    GUARD_TRY_ASSIGN(const auto entry, manager.stat(session, inside(at), deadline));
    return ordered_json{{"entry", entry_json(entry, at)}};
  };
  if (method == "Stat") return look(path);
  if (method == "ListDir") {
    const auto given = body.find("depth");
    const bool is_number = given != body.end() && given->is_number_unsigned();
    const auto depth = std::clamp<std::uint64_t>(is_number ? given->get<std::uint64_t>() : 1, 1, kDepthMax);
    GUARD_TRY_ASSIGN(auto entries, manager.list(session, inside(path), depth, deadline));
    std::ranges::sort(entries, {}, &sessions::Entry::path);
    ordered_json rows = ordered_json::array();
    const std::string base = path.back() == '/' ? path : path + "/";
    for (const auto& entry : entries) rows.push_back(entry_json(entry, base + entry.path));
    return ordered_json{{"entries", std::move(rows)}};
  }
  if (method == "MakeDir") {
    const auto there = manager.stat(session, inside(path), deadline);
    if (there && there->type == 'd')
      return rpc_error("already_exists", fmt::format("directory already exists: {}", printable(path)));
    GUARD_TRY(manager.make_folder(session, inside(path), deadline));
    return look(path);
  }
  if (method == "Move") {
    const std::string to = absolute(sandbox, text(body, "destination"));
    GUARD_TRY(manager.move(session, inside(absolute(sandbox, text(body, "source"))), inside(to), deadline));
    return look(to);
  }
  if (method == "Remove") {
    GUARD_TRY(manager.remove(session, inside(path), deadline));
    return ordered_json::object();
  }
  return rpc_error("unimplemented", fmt::format("guard does not offer filesystem.Filesystem/{}", printable(method)));
}

void say_plain_failure(Answer& answer, unsigned status, std::string_view why) {
  answer.note("refused");
  say_json(answer, status, {{"code", status}, {"message", why}});
}

void say_plain_failure(Answer& answer, const Error& error) {
  const std::string_view code = rpc_code(error);
  say_plain_failure(answer,
      code == "not_found"                                             ? 404
          : code == "resource_exhausted"                              ? 507
          : code == "invalid_argument" || code == "permission_denied" ? 400
                                                                      : 500,
      printable(error.message()));
}

Result<void> read_file(sessions::Manager& manager, const Sandbox& sandbox, const std::string& path, Answer& answer) {
  bool begun = false;
  const auto pass_on = [&](std::string_view bytes) -> Result<void> {
    if (!begun) GUARD_TRY(answer.begin(200, "application/octet-stream"));
    begun = true;
    return answer.write(bytes);
  };
  auto done = manager.download(sandbox.session(), inside(path), pass_on, Deadline::after(kFileLimit));
  if (done) return pass_on({});
  if (begun) return done;
  say_plain_failure(answer, done.error());
  return ok();
}

Result<ordered_json> write_files(Sandboxes& sandboxes, const Sandbox& sandbox, const Request& request) {
  const auto field = [&](const char* name) {
    const auto found = request.fields.find(name);
    return found == request.fields.end() ? std::string() : found->second;
  };
  const auto given = request.query.find("path");
  std::vector<FormFile> files;
  const std::string encoding = field("content-encoding");
  std::shared_ptr<void> room;
  std::string unpacked;
  if (encoding == "gzip") {
    const std::size_t size = gunzipped_size(request.body);
    if (size > kBodyBytesMax)
      return Error(ErrorCode::file_too_large, fmt::format("the body is over {} bytes once unpacked", kBodyBytesMax));
    GUARD_TRY_ASSIGN(room, sandboxes.hold(sandbox, size));
    GUARD_TRY_ASSIGN(unpacked, gunzip(request.body));
  } else if (!encoding.empty() && encoding != "identity") {
    return Error(ErrorCode::input_invalid, "guard takes files as they are, or compressed with gzip");
  }
  const std::string& body = encoding == "gzip" ? unpacked : request.body;
  if (field("content-type").starts_with("multipart/form-data")) {
    GUARD_TRY_ASSIGN(files, form_files(field("content-type"), body));
    if (given != request.query.end() && files.size() == 1) files.front().name = given->second;
  } else {
    if (given == request.query.end()) return Error(ErrorCode::input_invalid, "path is missing");
    files = {{given->second, body}};
  }
  ordered_json said = ordered_json::array();
  for (const FormFile& file : files) {
    const std::string path = absolute(sandbox, file.name);
    GUARD_TRY(sandboxes.manager().upload(sandbox.session(), inside(path), file.bytes, Deadline::after(kFileLimit)));
    said.push_back({{"path", path}, {"name", name_of(path)}, {"type", "file"}});
  }
  return said;
}

}  // namespace

std::string inside(std::string_view path) {
  if (path == kTheirHome || path.starts_with(fmt::format("{}/", kTheirHome)))
    return fmt::format("{}{}", kWorkspace, path.substr(kTheirHome.size()));
  return std::string(path);
}

std::string absolute(const Sandbox& sandbox, const std::string& path) {
  if (path.starts_with('/')) return path;
  return path.empty() || path == "." ? sandbox.home : fmt::format("{}/{}", sandbox.home, path);
}

void start_in(const Sandbox& sandbox, const std::string& folder, TaskSpec& spec) {
  spec.working_dir = sandbox.home == kWorkspace ? inside(folder) : folder;
  spec.env.insert({{"HOME", sandbox.home}, {"PWD", spec.working_dir}});
}

void call_filesystem(
    Sandboxes& sandboxes, Sandbox& sandbox, std::string_view method, const Request& request, Answer& answer) {
  if (method == "WatchDir") {
    MessageStream out(answer);
    if (const auto done = watch(sandboxes, sandbox, request, answer, out); !done) out.fail(done.error());
    return;
  }
  const auto said = unary(sandboxes.manager(), sandbox, method, request);
  said ? say_message(answer, *said) : say_failure(answer, said.error());
}

Result<void> read_or_write_files(Sandboxes& sandboxes, Sandbox& sandbox, const Request& request, Answer& answer) {
  if (request.method == "POST") {
    const auto said = write_files(sandboxes, sandbox, request);
    said ? say_message(answer, *said) : say_plain_failure(answer, said.error());
    return ok();
  }
  const auto path = request.query.find("path");
  if (request.method == "GET" && path != request.query.end() && !path->second.empty())
    return read_file(sandboxes.manager(), sandbox, absolute(sandbox, path->second), answer);
  say_plain_failure(answer, 400, "GET or POST with a path");
  return ok();
}

std::size_t gunzipped_size(std::string_view packed) {
  std::size_t size = 0;
  for (std::size_t i = 1; i <= 4 && i <= packed.size(); ++i)
    size = size << 8 | static_cast<unsigned char>(packed[packed.size() - i]);
  return size;
}

Result<std::string> gunzip(std::string_view packed) {
  const Error broken(ErrorCode::input_invalid, "the body is not compressed as its Content-Encoding says");
  constexpr std::size_t kRatioMax = 1032;  // of DEFLATE: 258 bytes by two bits
  if (gunzipped_size(packed) / kRatioMax > packed.size()) return broken;
  constexpr int kGzip = 16 + MAX_WBITS;
  std::string plain(gunzipped_size(packed) + 1, '\0');  // with room for more: to see that there is none
  z_stream stream{};
  if (::inflateInit2(&stream, kGzip) != Z_OK) return broken;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int done = ::inflate(&stream, Z_FINISH);
  const bool is_whole = done == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 1;
  ::inflateEnd(&stream);
  if (!is_whole) return broken;
  plain.pop_back();
  return plain;
}

Result<std::vector<FormFile>> form_files(std::string_view content_type, std::string_view body) {
  const Error broken(ErrorCode::input_invalid, "the body is no form as its Content-Type says");
  constexpr std::string_view kBoundary = "boundary=";
  const std::size_t at = content_type.find(kBoundary);
  if (at == std::string_view::npos) return broken;
  std::string_view boundary = content_type.substr(at + kBoundary.size());
  boundary = boundary.substr(0, boundary.find(';'));
  if (boundary.size() > 2 && boundary.front() == '"') boundary = boundary.substr(1, boundary.size() - 2);
  constexpr std::size_t kBoundaryMax = 70;
  if (boundary.empty() || boundary.size() > kBoundaryMax) return broken;
  // The first one may stand at the very beginning.
  const std::string mark = fmt::format("\r\n--{}", boundary);
  if (!body.starts_with(std::string_view(mark).substr(2))) return broken;
  body.remove_prefix(mark.size() - 2);
  std::vector<FormFile> files;
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n")) return broken;
    const std::size_t head_end = body.find("\r\n\r\n");
    const std::size_t end = head_end == std::string_view::npos ? head_end : body.find(mark, head_end + 2);
    if (end == std::string_view::npos || end < head_end + 2) return broken;
    const std::string_view head = body.substr(2, head_end - 2);
    constexpr std::string_view kFileName = "filename=\"";
    const std::size_t name = head.find(kFileName);
    if (name != std::string_view::npos) {
      std::string_view quoted = head.substr(name + kFileName.size());
      quoted = quoted.substr(0, quoted.find('"'));
      std::string plain(quoted);
      for (const auto& [from, to] : {std::pair("%22", "\""), std::pair("%0D", "\r"), std::pair("%0A", "\n")})
        plain = replaced(std::move(plain), from, to);
      const std::size_t begin = head_end + 4;
      files.push_back({std::move(plain), begin > end ? std::string_view() : body.substr(begin, end - begin)});
    }
    body.remove_prefix(end + mark.size());
  }
  if (files.empty()) return Error(ErrorCode::input_invalid, "the form has no file");
  return files;
}

}  // namespace guard::serve::e2b
