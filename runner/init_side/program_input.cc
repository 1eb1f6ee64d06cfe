#include "runner/init_side/program_input.h"

#include <unistd.h>

#include <cerrno>

#include "runner/init_side/init_protocol.h"

namespace guard {

Result<std::string> ProgramInput::next_frame() {
  using init_protocol::kHeaderBytes;
  std::string frame(kHeaderBytes + init_protocol::kInputBytesMax, '\0');
  ssize_t size = -1;
  do {
    size = ::read(descriptor_, frame.data() + kHeaderBytes, init_protocol::kInputBytesMax);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return Error::from_errno(ErrorCode::io_error, "reading the command's standard input", errno);
  frame.resize(kHeaderBytes + static_cast<std::size_t>(size));
  frame[0] = static_cast<char>(init_protocol::FrameType::input);
  for (int i = 0; i < 4; ++i) frame[static_cast<std::size_t>(4 + i)] = static_cast<char>(size >> (24 - 8 * i) & 0xff);
  wanted_ = false;
  ended_ = size == 0;
  return frame;
}

}  // namespace guard
