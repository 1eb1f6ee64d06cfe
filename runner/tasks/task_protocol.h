// What guard and init say to each other in a sandbox that stays (`guard-init --serve`): tasks, any number side by side.
// A task is a program, or an operation on files that init does itself; either has a standard input, two outputs and an
// end, so that there is one thing to start, to feed, to stop and to wait for.
//
// Frames as in runner/init_side/init_protocol.h, in both directions: guard's on init's standard input, init's on its
// standard output. Each but the hello begins with the task's number (u32, big-endian as all numbers), which guard
// chooses and never uses again.
//
// Order, from init: one hello; then, of each task that was started, any number of out, err and window, then one end;
// among them, of a program that has a process, one begun. Anything else is a PROTOCOL_ERROR. The end of guard's stream
// is the end of everything (the life line).
//
// Flow control: of every stream no more bytes are on their way than its reader has room for. Each begins with
// kWindowBytes; a window frame adds what the reader has taken since. So a reader that does not read stops its own
// stream only, and neither side ever holds more than that much of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guard::task_protocol {

enum class FrameType : std::uint8_t {
  // From guard.
  start = 'S',   // Start, then its texts, each ended by a NUL: folder, arguments, environment ("name=value")
  input = 'I',   // bytes of the standard input; none: its end
  signal = 'K',  // one byte: its number, to the program's process group; KILL reaches everything that it started
  resize = 'Z',  // rows, columns (u16 each) of the task's terminal
  // From init.
  hello = 'H',  // as in every sandbox
  begun = 'B',  // u32: the process id of the program, as those inside know it
  out = 'O',    // of a connection, without bytes: the other side has closed its half
  err = 'E',    // never of a task with a terminal
  end = 'X',    // "key=value\n" lines: how it ended
  // From both.
  connection = 'N',  // runner/egress/egress_protocol.h; its number is that of a connection, not of a task
  window = 'W',      // one byte, the type of the stream (input, out, err), then u32: so many bytes more
};

// What a task does. The operations on files take paths, absolute or from the task's folder, and follow links as any
// program inside would: what holds them is the sandbox.
enum class TaskOperation : std::uint8_t {
  program = 'x',      // argv[0] is looked up in PATH of its environment
  put = 'p',          // PATH MODE(octal): what comes in becomes the file, at once or not at all; parents are made
  get = 'g',          // PATH: a regular file goes out
  list = 'l',         // PATH DEPTH: Entry records of what lies below, parents before children
  stat = 's',         // PATH: one such record, of a link itself
  move = 'm',         // FROM TO
  remove = 'r',       // PATH, with all that is in it; no error where there is none
  make_folder = 'f',  // PATH, with its parents; no error where there is one
  watch = 'n',        // PATH DEPTH (1, or more for all below): Event records of what changes, until it is killed
  connect = 'c',      // PORT: a TCP connection to 127.0.0.1 inside; input goes there, what comes from there is out
  // "key=value\n" lines: processes, memory_bytes, cpu_ms (of all there have been, but for those that nobody waits for);
  // with [files] also bytes and files of /workspace, /tmp.
  usage = 'u',
};

// The fixed part of a start frame, behind the task's number; see encode_start() of runner/tasks/task_table.h.
// kind (u8), flags (u8), rows, columns (u16), timeout_ms, grace_ms, arguments, variables (u32).
constexpr std::size_t kStartBytes = 2 + 2 * 2 + 4 * 4;
constexpr std::uint8_t kWantsInput = 1;     // else its standard input is /dev/null
constexpr std::uint8_t kWantsTerminal = 2;  // input and outputs are one terminal
constexpr std::uint8_t kHasTitle = 4;       // the last text is TaskSpec::title; never to init

// An Entry of a list: type ('f', 'd', 'l', 'o' for all others), then mode (octal), size, time of change in ns since
// 1970, separated by spaces; NUL; path below the folder that was asked for; NUL; where a link leads to, else nothing;
// NUL.

// An Event of a watch: one byte, NUL; path below the folder, NUL. The byte: 'b' from now on (the first one), 'c' made
// or moved here, 'w' written, 'r' removed, 'm' moved away, 'a' mode, owner or times, '!' something was missed, look
// again.

constexpr std::size_t kIdBytes = 4;
constexpr std::size_t kWindowBytes = 256ul * 1024;      // of an output
constexpr std::size_t kInputWindowBytes = 64ul * 1024;  // of an input: what init has room for
constexpr std::size_t kInputPieceBytes = kInputWindowBytes / 2;
constexpr std::size_t kOutputChunkBytes = 32ul * 1024;  // so that a stream in full flood costs others little time
constexpr std::size_t kStartPayloadMax = 256ul * 1024;
constexpr std::size_t kTasksMax = 64;           // side by side; guard asks for no more
constexpr std::size_t kWordsMax = 32ul * 1024;  // arguments and variables of one task

}  // namespace guard::task_protocol
