#include "runner/init_side/program_input.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "runner/init_side/init_protocol.h"

namespace guard {

namespace {

// The descriptor may be shared with others, and what poll(2) has seen be gone; their flags are not ours to change.
ssize_t read_what_is_there(int descriptor, char* bytes, std::size_t size) {
  iovec place{bytes, size};
  const ssize_t got = ::preadv2(descriptor, &place, 1, -1, RWF_NOWAIT);
  if (got >= 0 || errno != EOPNOTSUPP) return got;
  const ssize_t received = ::recv(descriptor, bytes, size, MSG_DONTWAIT);
  return received >= 0 || errno != ENOTSOCK ? received : ::read(descriptor, bytes, size);
}

}  // namespace

Result<std::optional<std::string>> ProgramInput::next_frame() {
  using init_protocol::kHeaderBytes;
  std::string frame(kHeaderBytes + init_protocol::kInputBytesMax, '\0');
  char* const bytes = frame.data() + kHeaderBytes;
  struct stat found {};
  // Of a file the kernel would only hand out what is in memory already.
  const bool file = ::fstat(descriptor_, &found) == 0 && (S_ISREG(found.st_mode) || S_ISBLK(found.st_mode));
  const ssize_t size = file ? ::read(descriptor_, bytes, init_protocol::kInputBytesMax)
                            : read_what_is_there(descriptor_, bytes, init_protocol::kInputBytesMax);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  if (size < 0) return Error::from_errno(ErrorCode::io_error, "reading the command's standard input", errno);
  frame.resize(kHeaderBytes + static_cast<std::size_t>(size));
  frame[0] = static_cast<char>(init_protocol::FrameType::input);
  init_protocol::write_number(frame.data() + init_protocol::kLengthAt, static_cast<std::uint32_t>(size));
  wanted_ = false;
  ended_ = size == 0;
  return frame;
}

}  // namespace guard
