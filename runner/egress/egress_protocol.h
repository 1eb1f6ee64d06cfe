// Connections of programs to the outside, where a sandbox has no network (Network::allowlist): init accepts them on
// kEgressPort of the loopback inside, and guard gets each as a stream. Both protocols of init carry them, in frames of
// one type (`connection`) whose payload is: number of the connection (u32, big-endian), one EgressKind, bytes.
//
// Order, of one connection: `open` from init; then from either side `data`, `window`, at most one `end` (it sends
// nothing more) and at most one `reset`. A connection is over for whoever has sent or taken a reset, or sent and taken
// an end; what the other side says of it afterwards is ignored. A reset takes back nothing that was sent before.
//
// Flow control as in runner/tasks/task_protocol.h: each side begins with the bytes that the other has room for
// (kEgressUpWindowBytes what programs send, kEgressWindowBytes what they get), and a window frame (u32) adds what was
// passed on since.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/init_side/init_protocol.h"

namespace guard::egress_protocol {

enum class EgressKind : std::uint8_t { open = 'o', data = 'd', end = 'e', reset = 'r', window = 'w' };

// Above the range from which the kernel hands out ports by itself (ip_local_port_range), and below what anybody uses.
constexpr std::uint16_t kEgressPort = 61080;

constexpr std::size_t kEgressHeadBytes = 4 + 1;  // number and kind
constexpr std::size_t kEgressPieceBytes = init_protocol::kFramePayloadMax - kEgressHeadBytes;
// What is in flight crosses five threads, and more with a container engine: pieces should be on their way meanwhile. In
// guard's memory, half as much.
constexpr std::size_t kEgressWindowBytes = 256ul * 1024;
constexpr std::size_t kEgressUpWindowBytes = kEgressWindowBytes / 2;
// In which what ended programs have sent goes out, at each of init, guard and its proxy.
constexpr int kLastBytesMs = 1'000;
// At once. Programs that open more wait in the kernel's queue, which is as long.
constexpr std::size_t kEgressConnectionsMax = 1024;

}  // namespace guard::egress_protocol
