#include "runner/image/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "common/text/text.h"
#include "common/unique_fd.h"

// Only the program headers are read: PT_INTERP names the loader, PT_DYNAMIC the libraries, PT_LOAD says where in the
// file the string table lies. Section headers are left alone, since strip may remove them. Every offset comes from the
// file, so every one is checked against the file's size before it is used.

namespace guard {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
constexpr std::array kLibraryFolders = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
constexpr std::array kLibraryFolders = {
    "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
#else
#error "guard builds images for x86-64 and arm64"
#endif

constexpr std::size_t kProgramHeadersMax = 128;
constexpr std::size_t kDynamicBytesMax = 64ul * 1024;
constexpr std::size_t kNameBytesMax = 4096;
constexpr std::size_t kLibrariesMax = 64;

class Reader {
 public:
  Reader(int fd, std::uint64_t size, std::string name) : fd_(fd), size_(size), name_(std::move(name)) {}

  Result<std::string> bytes(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > size_ - offset) return damaged("an offset lies outside of the file");
    std::string buffer(count, '\0');
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t got =
          ::pread(fd_, buffer.data() + filled, buffer.size() - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read {}", name_), errno);
      if (got == 0) return damaged("the file is shorter than it says");
      filled += static_cast<std::size_t>(got);
    }
    return buffer;
  }

  // A NUL-terminated text.
  Result<std::string> text(std::uint64_t offset) const {
    if (offset >= size_) return damaged("a name lies outside of the file");
    GUARD_TRY_ASSIGN(std::string buffer, bytes(offset, std::min<std::uint64_t>(kNameBytesMax, size_ - offset)));
    const auto end = buffer.find('\0');
    if (end == std::string::npos || end == 0) return damaged("a name is empty or has no end");
    buffer.resize(end);
    return buffer;
  }

  Error damaged(std::string_view what) const {
    return Error(ErrorCode::input_invalid, fmt::format("{} is no usable program: {}", name_, what));
  }

 private:
  int fd_;
  std::uint64_t size_;
  std::string name_;
};

template <typename T>
T pod_at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool is_for_this_machine(const std::string& header) {
  const auto ident = header.substr(0, EI_NIDENT);
  if (ident.compare(0, SELFMAG, ELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
    return false;
  if (ident[EI_OSABI] != ELFOSABI_SYSV && ident[EI_OSABI] != ELFOSABI_GNU) return false;
  const auto elf = pod_at<Elf64_Ehdr>(header, 0);
  return elf.e_machine == kMachine && (elf.e_type == ET_EXEC || elf.e_type == ET_DYN);
}

Result<std::uint64_t> file_offset(const Reader& reader, const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const auto& header : headers) {
    if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz) {
      return header.p_offset + (address - header.p_vaddr);
    }
  }
  return reader.damaged("its string table is not loaded from the file");
}

Result<std::vector<std::string>> needed_names(
    const Reader& reader, const std::vector<Elf64_Phdr>& headers, const Elf64_Phdr& dynamic) {
  if (dynamic.p_filesz > kDynamicBytesMax) return reader.damaged("its dynamic section is too large");
  GUARD_TRY_ASSIGN(const std::string table, reader.bytes(dynamic.p_offset, dynamic.p_filesz));
  std::vector<std::uint64_t> names;
  std::uint64_t strings_address = 0;
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = pod_at<Elf64_Dyn>(table, at);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings_address = entry.d_un.d_ptr;
  }
  std::vector<std::string> needed;
  if (names.empty()) return needed;
  GUARD_TRY_ASSIGN(const std::uint64_t strings, file_offset(reader, headers, strings_address));
  for (const std::uint64_t name : names) {
    GUARD_TRY_ASSIGN(std::string text, reader.text(strings + name));
    needed.push_back(std::move(text));
  }
  return needed;
}

Result<std::filesystem::path> without_links(const std::filesystem::path& path) {
  std::error_code failure;
  auto real = std::filesystem::canonical(path, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(path.native()), failure.value());
  return real;
}

// Where the loader would find `name`: the first of its default folders that has it for this machine.
Result<std::filesystem::path> find_library(const std::string& name) {
  for (const char* folder : kLibraryFolders) {
    const auto candidate = std::filesystem::path(folder) / name;
    auto elf = read_elf(candidate);
    if (elf && elf->has_value()) return candidate;
  }
  return Error(ErrorCode::dependency_unsatisfied,
      fmt::format("the library {} is not in the system's library folders", printable(name)))
      .hint("install your distribution's C library packages, or use the bun build made for this system");
}

// `name` of what needs them, for messages; `seen` are not looked for.
Result<std::vector<LibraryFile>> find_libraries(const std::string& name, std::deque<std::string> wanted,
    std::set<std::string> seen, std::map<std::string, std::filesystem::path> found) {
  while (!wanted.empty()) {
    const std::string library = std::move(wanted.front());
    wanted.pop_front();
    if (!seen.insert(library).second) continue;
    if (library.find('/') != std::string::npos || seen.size() > kLibrariesMax) {
      return Error(ErrorCode::input_invalid,
          fmt::format("{} needs libraries that guard will not follow: {}", printable(name), printable(library)));
    }
    GUARD_TRY_ASSIGN(const std::filesystem::path file, find_library(library));
    GUARD_TRY_ASSIGN(const std::optional<ElfFile> further, read_elf(file));
    if (!further)
      return Error(ErrorCode::io_error, fmt::format("{} changed while it was read", printable(file.native())));
    wanted.insert(wanted.end(), further->needed.begin(), further->needed.end());
    GUARD_TRY_ASSIGN(found[file.relative_path().string()], without_links(file));
  }
  std::vector<LibraryFile> files;
  for (auto& [target, source] : found) files.push_back({std::move(source), target});
  return files;
}

}  // namespace

Result<std::optional<ElfFile>> read_elf(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int number = errno;
    const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::file_not_found : ErrorCode::io_error;
    return Error::from_errno(code, printable(path.native()), number);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) < sizeof(Elf64_Ehdr)) {
    return std::optional<ElfFile>();
  }
  const Reader reader(fd.get(), static_cast<std::uint64_t>(status.st_size), printable(path.native()));
  GUARD_TRY_ASSIGN(const std::string start, reader.bytes(0, sizeof(Elf64_Ehdr)));
  if (!is_for_this_machine(start)) return std::optional<ElfFile>();

  const auto elf = pod_at<Elf64_Ehdr>(start, 0);
  if (elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum == 0 || elf.e_phnum > kProgramHeadersMax) {
    return reader.damaged("its program headers make no sense");
  }
  GUARD_TRY_ASSIGN(const std::string table, reader.bytes(elf.e_phoff, std::uint64_t{elf.e_phnum} * sizeof(Elf64_Phdr)));
  std::vector<Elf64_Phdr> headers;
  for (std::size_t index = 0; index < elf.e_phnum; ++index) {
    headers.push_back(pod_at<Elf64_Phdr>(table, index * sizeof(Elf64_Phdr)));
  }

  ElfFile file;
  for (const auto& header : headers) {
    if (header.p_type == PT_INTERP) {
      GUARD_TRY_ASSIGN(file.interpreter, reader.text(header.p_offset));
    } else if (header.p_type == PT_DYNAMIC) {
      GUARD_TRY_ASSIGN(file.needed, needed_names(reader, headers, header));
    }
  }
  return std::optional<ElfFile>(std::move(file));
}

Result<std::vector<LibraryFile>> needed_libraries(const std::filesystem::path& program) {
  GUARD_TRY_ASSIGN(const std::optional<ElfFile> elf, read_elf(program));
  if (!elf) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} is no program for this machine", printable(program.native())));
  }
  std::map<std::string, std::filesystem::path> found;  // target -> source
  std::set<std::string> seen;
  if (!elf->interpreter.empty()) {
    const std::filesystem::path loader = std::filesystem::path(elf->interpreter).lexically_normal();
    if (!loader.is_absolute()) {
      return Error(
          ErrorCode::input_invalid, fmt::format("{} names a loader by a relative path", printable(program.native())));
    }
    GUARD_TRY_ASSIGN(found[loader.relative_path().string()], without_links(loader));
    // Libraries name the loader as one of their needs; it is found where the program says, not in a library folder.
    seen.insert(loader.filename().string());
  }
  return find_libraries(program.native(), {elf->needed.begin(), elf->needed.end()}, std::move(seen), std::move(found));
}

Result<std::vector<LibraryFile>> needed_libraries(const std::vector<std::string>& names) {
  return find_libraries("a package", {names.begin(), names.end()}, {}, {});
}

}  // namespace guard
