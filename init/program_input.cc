#include "init/program_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>

#include "init/processes.h"
#include "init/stream.h"

namespace guard::init {
namespace {

using init_protocol::kInputBytesMax;

enum class State : unsigned char {
  none,     // no program, or it does not read any more
  wanting,  // nothing is held, and nothing was asked for
  asked,    // the chunk is on its way
  holding,  // and here, while the program has no room for all of it
};
State g_state = State::none;
int g_pipe = -1;
char g_chunk[kInputBytesMax];
size_t g_size = 0;
size_t g_written = 0;

}  // namespace

int open_input() {
  int ends[2];
  make_pipe(ends);
  if (fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK) != 0) fail_to_start("pipe", errno);
  g_pipe = ends[1];
  g_state = State::wanting;
  return ends[0];
}

int input_descriptor() { return g_state == State::holding ? g_pipe : -1; }
bool wants_input() { return g_state == State::wanting; }
void asked_for_input() { g_state = State::asked; }

void take_input(const char* payload, size_t size) {
  if (g_state == State::none) return;  // the program has ended meanwhile
  if (g_state != State::asked || size > kInputBytesMax) leave_at_once();
  if (size == 0) return close_input();
  memcpy(g_chunk, payload, size);
  g_size = size;
  g_written = 0;
  g_state = State::holding;
  write_input();
}

void write_input() {
  while (g_state == State::holding) {
    const ssize_t size = write(g_pipe, g_chunk + g_written, g_size - g_written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size < 0) return close_input();  // nobody reads it any more
    g_written += static_cast<size_t>(size);
    if (g_written == g_size) g_state = State::wanting;
  }
}

void close_input() {
  if (g_pipe >= 0) close(g_pipe);
  g_pipe = -1;
  g_state = State::none;
}

}  // namespace guard::init
