#include "init/program_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstddef>

#include "init/processes.h"
#include "init/stream.h"

namespace guard::init {
namespace {

using init_protocol::FrameType;
using init_protocol::kHeaderBytes;
using init_protocol::kInputBytesMax;

enum class State : unsigned char {
  none,     // no program, or it does not read any more
  wanting,  // nothing is held, and nothing was asked for
  asked,    // the chunk is on its way
  holding,  // and here, while the program has no room for all of it
};
State g_state = State::none;
int g_pipe = -1;
char g_chunk[kHeaderBytes + kInputBytesMax];
size_t g_read = 0;
size_t g_written = 0;

size_t payload_bytes() { return init_protocol::read_number(g_chunk + init_protocol::kLengthAt); }

// Of the chunk that is being read, as far as is known.
size_t chunk_bytes() { return g_read < kHeaderBytes ? kHeaderBytes : kHeaderBytes + payload_bytes(); }

}  // namespace

int open_input() {
  int ends[2];
  make_pipe(ends);
  if (fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK) != 0) fail_to_start("pipe", errno);
  g_pipe = ends[1];
  g_state = State::wanting;
  return ends[0];
}

short input_events() { return g_state == State::holding ? 0 : POLLIN; }
int input_descriptor() { return g_state == State::holding ? g_pipe : -1; }
bool wants_input() { return g_state == State::wanting; }
void asked_for_input() {
  g_state = State::asked;
  g_read = g_written = 0;
}

void take_input() {
  if (g_state != State::asked) return check_life_line();
  const ssize_t size = read(life_line_descriptor(), g_chunk + g_read, chunk_bytes() - g_read);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) leave_at_once();
  g_read += static_cast<size_t>(size);
  if (g_read < kHeaderBytes) return;
  if (g_chunk[0] != static_cast<char>(FrameType::input) || payload_bytes() > kInputBytesMax) leave_at_once();
  if (g_read < chunk_bytes()) return;
  if (payload_bytes() == 0) return close_input();
  g_written = kHeaderBytes;
  g_state = State::holding;
  write_input();
}

void write_input() {
  while (g_state == State::holding) {
    const ssize_t size = write(g_pipe, g_chunk + g_written, g_read - g_written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size < 0) return close_input();  // nobody reads it any more
    g_written += static_cast<size_t>(size);
    if (g_written == g_read) g_state = State::wanting;
  }
}

void close_input() {
  if (g_pipe >= 0) close(g_pipe);
  g_pipe = -1;
  g_state = State::none;
}

}  // namespace guard::init
