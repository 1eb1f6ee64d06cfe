// The way out: the framed stream of runner/init_side/init_protocol.h on a descriptor of init's own; and the life line,
// at whose end everything is killed. All is in static memory, one frame at a time: nothing is read from the program
// before the last frame has left.
#pragma once

#include <cstddef>

#include "runner/init_side/init_protocol.h"

namespace guard::init {

constexpr int kOwnFdsFrom = 16;  // ours stay clear of the numbers the program gets

// Takes standard output and, for the life line, standard input over. Failures before it can only be told by the exit
// status.
enum class LifeLine { standard_input, none };
void open_stream(LifeLine line);

// To be polled; the life line is negative where there is none.
int stream_descriptor();
int life_line_descriptor();

// The key of the frames' tags, from the life line. Before the program is there, which must not get to it first.
void read_key();

char* frame_payload();  // room for kFramePayloadMax bytes
// The payload is in the frame already.
void begin_frame(init_protocol::FrameType type, std::size_t payload_bytes);
bool frame_pending();
void send_some();  // never waits
// Until the frame has left: for the first one, and for all that follow the end of every process.
void send_all();
inline void send_frame(init_protocol::FrameType type, std::size_t payload_bytes) {
  begin_frame(type, payload_bytes);
  send_all();
}
// Once the life line is readable: what guard says, a frame at a time and in order, goes to the listener, which begins
// no frame and keeps none of the bytes. Before there is one, guard says nothing.
using Listener = void (*)(char type, char* payload, size_t size);
void listen_with(Listener listener);
void hear_guard();

// Text of a hello, exit or summary frame, written straight into the frame.
class Lines {
 public:
  void add(const char* key, const char* value);
  void add(const char* key, long long value);
  void send(init_protocol::FrameType type);  // returns once it has left

 private:
  std::size_t size_ = 0;
};

// Says in an exit frame which step failed, and exits. `sysctl`: the limit of this machine that was reached; may be
// none.
[[noreturn]] void fail_to_start(const char* step, int error, const char* sysctl = nullptr);

// The descriptor under a number of ours, closed on exec.
int keep(int descriptor);
// Both ends under numbers of ours, closed on exec. False with errno: there are none.
bool open_pipe(int (&ends)[2]);
bool open_socket_pair(int type, int (&ends)[2]);
// The same, where init can't go on without them.
void make_pipe(int (&ends)[2]);
void make_socket_pair(int type, int (&ends)[2]);

}  // namespace guard::init
