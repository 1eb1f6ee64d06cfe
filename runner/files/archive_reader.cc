// In the child two readers stand behind each other: one takes the compression off, the other splits what comes of it
// into entries, so that the bytes between them can be digested. Messages go to guard by a socket that keeps their
// borders; the first byte says what one is.
#include "runner/files/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

constexpr std::size_t kPiece = 64ul * 1024;
constexpr std::size_t kMessageMax = 2 * kPiece;
constexpr std::uint64_t kMemoryMax = 256ull << 20;  // zstd's largest usual window is 128 MB

Error unreadable(std::string_view why) {
  return Error(ErrorCode::input_invalid, fmt::format("the archive can't be read: {}", why))
      .hint("guard reads tar archives, plain or compressed with gzip or zstd; fetch or make this one again");
}

// A message's first byte, and what follows: an EntryHead, path and target; an offset and bytes; nothing; code, words
// and hint, each ended by NUL but the last; an EndHead.
enum class Says : char { entry, bytes, end_of_file, failed, end };
struct EntryHead {
  TreeEntry::Kind kind;
  mode_t mode;
  uid_t owner;
  std::int64_t changed_s;
  std::uint64_t bytes;
  std::size_t path_bytes;
};
struct EndHead {
  std::array<char, 2 * Sha256::kBytes> sha256_hex;
  std::uint64_t bytes;
  std::uint8_t ended;  // no bool: guard takes it from foreign bytes
};

struct FreeArchive {
  void operator()(archive* reader) const noexcept { ::archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeArchive>;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece, good until the next call; empty at the end.
  virtual Result<std::span<const char>> next() = 0;
};

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, const std::string& name) : fd_(fd), name_(name), buffer_(kPiece) {}
  Result<std::span<const char>> next() override {
    for (;;) {
      const ssize_t size = ::read(fd_, buffer_.data(), buffer_.size());
      if (size >= 0) return std::span<const char>(buffer_.data(), static_cast<std::size_t>(size));
      if (errno != EINTR) return Error::from_errno(ErrorCode::io_error, printable(name_), errno);
    }
  }

 private:
  int fd_;
  const std::string& name_;
  std::vector<char> buffer_;
};

// What the reader reads from, and why that failed.
struct Feed {
  ByteSource& from;
  std::optional<Error> failure;
};

la_ssize_t give(archive* reader, void* into, const void** bytes) noexcept {
  auto& feed = *static_cast<Feed*>(into);
  auto piece = feed.from.next();
  if (!piece) {
    feed.failure = std::move(piece).error();
    ::archive_set_error(reader, EIO, "reading failed");
    return -1;
  }
  *bytes = piece->data();
  return static_cast<la_ssize_t>(piece->size());
}

Error too_much_memory() { return unreadable(fmt::format("that needs more than {} MB of memory", kMemoryMax >> 20)); }

// False: there is no more. Names that are not in this process's character set are no matter: they come as bytes.
Result<bool> answered(int code, archive* reader, const Feed& feed) {
  if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return true;
  if (code == ARCHIVE_EOF) return false;
  if (feed.failure) return *feed.failure;
  if (::archive_errno(reader) == ENOMEM) return too_much_memory();
  const char* words = ::archive_error_string(reader);
  return unreadable(words == nullptr ? "it is cut off or damaged" : printable(words));
}

// What another source holds, without its compression, counted and digested on the way.
class PlainSource final : public ByteSource {
 public:
  PlainSource(ByteSource& from, const ReadBudget& budget)
      : feed_{from, {}}, reader_(::archive_read_new()), left_(budget) {}

  Result<void> open() {
    archive* const reader = reader_.get();
    ::archive_read_support_filter_gzip(reader);
    ::archive_read_support_filter_zstd(reader);
    ::archive_read_support_format_raw(reader);
    ::archive_read_support_format_empty(reader);
    GUARD_TRY(answered(::archive_read_open(reader, &feed_, nullptr, give, nullptr), reader, feed_));
    // The last one stands for no compression.
    if (::archive_filter_count(reader) > 2)
      return Error(ErrorCode::input_invalid, "the archive is compressed more than once")
          .hint("take one compression off");
    archive_entry* entry = nullptr;
    GUARD_TRY_ASSIGN(has_bytes_, answered(::archive_read_next_header(reader, &entry), reader, feed_));
    return ok();
  }

  Result<std::span<const char>> next() override {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    while (has_bytes_ && size == 0) {
      GUARD_TRY_ASSIGN(
          has_bytes_, answered(::archive_read_data_block(reader_.get(), &bytes, &size, &offset), reader_.get(), feed_));
    }
    const std::span piece(static_cast<const char*>(bytes), has_bytes_ ? size : 0);
    GUARD_TRY(left_.take(piece.size()));
    bytes_ += piece.size();
    hash_.update(piece);
    return piece;
  }

  // Reads what is left.
  Result<EndHead> finish(bool ended) {
    for (;;) {
      GUARD_TRY_ASSIGN(const auto piece, next());
      if (piece.empty()) break;
    }
    EndHead end{{}, bytes_, ended ? std::uint8_t{1} : std::uint8_t{0}};
    const std::string hex = hash_.finish_hex();
    std::copy(hex.begin(), hex.end(), end.sha256_hex.begin());
    return end;
  }

 private:
  Feed feed_;
  Reader reader_;
  ReadBudget left_;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
  bool has_bytes_ = false;
};

// The child's end of the socket. Nothing that it sends needs more memory.
class Teller {
 public:
  explicit Teller(int socket) : socket_(socket) { message_.reserve(kMessageMax); }

  template <typename Head>
  void say(Says what, const Head& head, std::string_view text = {}, std::string_view more = {}) {
    message_.assign(1, static_cast<char>(what));
    message_.append(reinterpret_cast<const char*>(&head), sizeof head);
    message_.append(text).append(more);
    send();
  }
  void say(Says what, std::string_view text = {}) {
    message_.assign(1, static_cast<char>(what)).append(text);
    send();
  }
  void fail(const Error& error) {
    message_.assign(1, static_cast<char>(Says::failed)).append(error.wire_name()).append(1, '\0');
    message_.append(error.message()).append(1, '\0').append(error.hint());
    send();
  }

 private:
  void send() {
    while (::send(socket_, message_.data(), message_.size(), MSG_NOSIGNAL) < 0) {
      if (errno != EINTR) ::_exit(1);  // guard wants no more
    }
  }

  int socket_;
  std::string message_;
};

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : text; }

TreeEntry::Kind kind_of(archive_entry* entry) {
  if (::archive_entry_hardlink(entry) != nullptr) return TreeEntry::Kind::hard_link;
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG: return TreeEntry::Kind::file;
    case AE_IFDIR: return TreeEntry::Kind::folder;
    case AE_IFLNK: return TreeEntry::Kind::link;
    default: return TreeEntry::Kind::special;
  }
}

Result<void> tell_entry(archive* reader, const Feed& feed, archive_entry* entry, Teller& teller) {
  const std::string_view path = text_of(::archive_entry_pathname(entry));
  EntryHead head{kind_of(entry), ::archive_entry_perm(entry), static_cast<uid_t>(::archive_entry_uid(entry)),
      ::archive_entry_mtime(entry), 0, path.size()};
  const std::string_view target = text_of(
      head.kind == TreeEntry::Kind::hard_link ? ::archive_entry_hardlink(entry) : ::archive_entry_symlink(entry));
  if (path.empty()) return unreadable("it has an entry without a name");
  if (path.size() + target.size() > kPiece) return unreadable("it has an entry with a name that is too long");
  const bool has_bytes = head.kind == TreeEntry::Kind::file;
  if (has_bytes) head.bytes = static_cast<std::uint64_t>(std::max<la_int64_t>(::archive_entry_size(entry), 0));
  teller.say(Says::entry, head, path, target);
  while (has_bytes) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    GUARD_TRY_ASSIGN(
        const bool more, answered(::archive_read_data_block(reader, &bytes, &size, &offset), reader, feed));
    if (!more) break;
    for (std::size_t done = 0; done < size; done += kPiece) {
      const std::string_view piece(static_cast<const char*>(bytes) + done, std::min(kPiece, size - done));
      teller.say(Says::bytes, offset + static_cast<la_int64_t>(done), piece);
    }
  }
  if (has_bytes) teller.say(Says::end_of_file);
  return ok();
}

Result<void> tell_archive(
    int fd, const std::string& name, const ReadBudget& budget, AfterEnd after_end, Teller& teller) {
  FileSource file(fd, name);
  PlainSource plain(file, budget);
  GUARD_TRY(plain.open());
  Feed feed{plain, {}};
  const Reader owned(::archive_read_new());
  archive* const reader = owned.get();
  ::archive_read_support_format_tar(reader);
  ::archive_read_set_options(reader, "hdrcharset=BINARY");  // names are bytes
  if (after_end == AfterEnd::read) ::archive_read_set_options(reader, "read_concatenated_archives");
  GUARD_TRY(answered(::archive_read_open(reader, &feed, nullptr, give, nullptr), reader, feed));
  for (;;) {
    archive_entry* entry = nullptr;
    GUARD_TRY_ASSIGN(const bool more, answered(::archive_read_next_header(reader, &entry), reader, feed));
    if (!more) break;
    GUARD_TRY(tell_entry(reader, feed, entry, teller));
  }
  // The blocks of zeros at the end of an archive count as read.
  const bool ended = ::archive_filter_bytes(reader, 0) > ::archive_read_header_position(reader);
  GUARD_TRY_ASSIGN(const EndHead end, plain.finish(ended));
  teller.say(Says::end, end);
  return ok();
}

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t seconds_of(const ReadBudget& budget) {
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(budget.cpu).count());
}

bool limit(decltype(RLIMIT_AS) what, std::uint64_t soft, std::uint64_t hard) {
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return false;
  const rlimit both{std::min<rlim_t>(soft, now.rlim_max), std::min<rlim_t>(hard, now.rlim_max)};
  return ::setrlimit(what, &both) == 0;
}

// Reading, telling guard, and memory: whoever takes the reader over through a fault of the libraries can do no more.
bool filter_calls() {
#if defined(__x86_64__)
  constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int call : {SYS_read, SYS_sendto, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise,
           SYS_futex, SYS_rt_sigreturn, SYS_exit_group}) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool confine(int fd, int socket, std::uint64_t seconds) {
  const std::uint64_t memory = mapped_bytes() + kMemoryMax;
  const auto [low, high] = std::minmax({static_cast<unsigned>(fd), static_cast<unsigned>(socket)});
  if (low > 0) ::close_range(0, low - 1, 0);
  if (high > low + 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0u, 0);
  return limit(RLIMIT_AS, memory, memory) && limit(RLIMIT_CPU, seconds, seconds + 1) && limit(RLIMIT_NOFILE, 0, 0) &&
      limit(RLIMIT_FSIZE, 0, 0) && ::prctl(PR_SET_DUMPABLE, 0) == 0 &&  // what it reads is in no core file either
      filter_calls();
}

[[noreturn]] void be_the_reader(
    int fd, int socket, const std::string& name, AfterEnd after_end, const ReadBudget& budget) {
  // libarchive ends the process where it has no memory; nothing of guard's may run then.
  std::atexit([] { ::_exit(1); });
  Teller teller(socket);
  if (!confine(fd, socket, seconds_of(budget))) ::_exit(1);
  try {
    if (const auto told = tell_archive(fd, name, budget, after_end, teller); !told) teller.fail(told.error());
  } catch (const std::exception&) {
    teller.fail(too_much_memory());
  }
  ::_exit(0);
}

// The child, from guard's side.
class ReaderProcess {
 public:
  ReaderProcess(ReadBudget& budget, const CancelToken& cancel)
      : budget_(budget), cancel_(cancel), buffer_(kMessageMax, '\0') {}
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  ~ReaderProcess() { reap(); }

  Result<void> start(int fd, const std::string& name, AfterEnd after_end) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return Error::from_errno(ErrorCode::io_error, "socketpair", errno);
    socket_.reset(ends[0]);
    const UniqueFd other(ends[1]);
    const pid_t guard = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) return Error::from_errno(ErrorCode::io_error, "fork", errno);
    if (pid_ > 0) return ok();
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != guard) ::_exit(1);
    be_the_reader(fd, other.get(), name, after_end, budget_);
  }

  // What it says next, good until the next call.
  Result<std::pair<Says, std::string_view>> next() {
    for (;;) {
      pollfd waits[] = {{socket_.get(), POLLIN, 0}, {cancel_.fd(), POLLIN, 0}};
      ::poll(waits, std::size(waits), -1);
      if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while reading an archive");
      if (waits[0].revents == 0) continue;
      const ssize_t size = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return died();
      const std::string_view text(buffer_.data() + 1, static_cast<std::size_t>(size) - 1);
      if (Says{buffer_[0]} == Says::failed) return failure(text);
      return std::pair(Says{buffer_[0]}, text);
    }
  }

 private:
  static Error failure(std::string_view text) {
    std::vector<std::string_view> parts = pieces_of(text, '\0');
    parts.resize(3);
    return Error(find_error_code(parts[0]).value_or(ErrorCode::input_invalid), printable(parts[1]))
        .hint(std::string(parts[2]));
  }

  Error died() {
    const std::uint64_t seconds = seconds_of(budget_);
    const int status = reap();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
      return unreadable(fmt::format("that needs more than {} s of a processor", seconds));
    return unreadable(fmt::format("its reader crashed, or needed more than {} MB of memory", kMemoryMax >> 20));
  }

  int reap() {
    if (pid_ <= 0) return 0;
    int status = 0;
    rusage used{};
    socket_.reset();
    ::kill(pid_, SIGKILL);
    while (::wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      budget_.cpu -= std::chrono::seconds(part.tv_sec) + std::chrono::microseconds(part.tv_usec);
    budget_.cpu = std::max(budget_.cpu, std::chrono::microseconds(1));
    return status;
  }

  ReadBudget& budget_;
  const CancelToken& cancel_;
  std::string buffer_;
  UniqueFd socket_;
  pid_t pid_ = -1;
};

// The first part of a message, which is taken off.
template <typename Head>
Result<Head> head_of(std::string_view& text) {
  Head head;
  if (text.size() < sizeof head) return unreadable("its reader makes no sense of it");
  std::memcpy(&head, text.data(), sizeof head);
  text.remove_prefix(sizeof head);
  return head;
}

// Holes are not written.
Result<void> write_content(ReaderProcess& reader, const TreeEntry& entry, int fd) {
  const auto failed = [&] {
    return Error::from_errno(ErrorCode::io_error, fmt::format("writing {}", printable(entry.path)), errno);
  };
  for (;;) {
    GUARD_TRY_ASSIGN(auto message, reader.next());
    auto& [says, bytes] = message;
    if (says != Says::bytes) break;
    GUARD_TRY_ASSIGN(const auto offset, head_of<la_int64_t>(bytes));
    if (offset < 0 || static_cast<std::uint64_t>(offset) + bytes.size() > entry.bytes)
      return unreadable(fmt::format("{} holds more than it says", printable(entry.path)));
    if (::lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0) return failed();
    GUARD_TRY(write_all(fd, bytes).context(fmt::format("writing {}", printable(entry.path))));
  }
  if (::ftruncate(fd, static_cast<off_t>(entry.bytes)) != 0) return failed();
  return ok();
}

Result<void> take_entry(ReaderProcess& reader, std::string_view text, const TakeEntry& take) {
  GUARD_TRY_ASSIGN(const auto head, head_of<EntryHead>(text));
  TreeEntry entry{
      head.kind, std::string(text.substr(0, head.path_bytes)), {}, head.mode, head.owner, head.changed_s, head.bytes};
  if (text.size() > head.path_bytes) entry.target = text.substr(head.path_bytes);
  bool has_bytes = head.kind == TreeEntry::Kind::file;
  GUARD_TRY(take(entry, [&](int fd) {
    has_bytes = false;
    return write_content(reader, entry, fd);
  }));
  while (has_bytes) {
    GUARD_TRY_ASSIGN(const auto message, reader.next());
    has_bytes = message.first == Says::bytes;
  }
  return ok();
}

}  // namespace

Result<void> ReadBudget::take(std::uint64_t count) {
  if (count > bytes) {
    return Error(ErrorCode::file_too_large, "all layers together hold more than the bytes that guard takes")
        .hint("make a smaller image");
  }
  bytes -= count;
  return ok();
}

Result<ArchiveRead> read_archive(int fd, const std::string& name, AfterEnd after_end, ReadBudget& budget,
    const TakeEntry& take, const CancelToken& cancel) {
  ReaderProcess reader(budget, cancel);
  GUARD_TRY(reader.start(fd, name, after_end));
  for (;;) {
    GUARD_TRY_ASSIGN(auto message, reader.next());
    auto& [says, text] = message;
    if (says == Says::entry) {
      GUARD_TRY(take_entry(reader, text, take));
      continue;
    }
    if (says != Says::end) return unreadable("its reader makes no sense of it");
    GUARD_TRY_ASSIGN(const auto end, head_of<EndHead>(text));
    GUARD_TRY(budget.take(end.bytes));
    return ArchiveRead{std::string(end.sha256_hex.begin(), end.sha256_hex.end()), end.ended != 0};
  }
}

}  // namespace guard
