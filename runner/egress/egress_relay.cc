#include "runner/egress/egress_relay.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/threads.h"
#include "common/time.h"
#include "runner/egress/egress_protocol.h"
#include "runner/init_side/init_protocol.h"

namespace guard {
namespace {

using namespace egress_protocol;

// At a time, so that a send ends soon however many connections are in flood.
constexpr std::size_t kBatchBytesMax = 256ul * 1024;

Error broken(std::string_view what) {
  return Error(ErrorCode::protocol_error, fmt::format("the sandbox's init spoke nonsense: {}", what));
}

void add_frame(std::string& frames, std::uint32_t id, EgressKind kind, std::string_view bytes) {
  std::array<char, init_protocol::kHeaderBytes + kEgressHeadBytes> head{};
  head[0] = static_cast<char>(init_protocol::FrameType::connection);
  init_protocol::write_number(
      head.data() + init_protocol::kLengthAt, static_cast<std::uint32_t>(kEgressHeadBytes + bytes.size()));
  init_protocol::write_number(head.data() + init_protocol::kHeaderBytes, id);
  head.back() = static_cast<char>(kind);
  frames.append(head.data(), head.size()).append(bytes);
}

// A place of this process for a connection, in whichever sandbox. It takes four descriptors: the two ends of the
// socket, the server's, and one while an answer lingers.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (taken_) --g_taken;
  }
  bool take() {
    constexpr rlim_t kOthers = 512;  // of guard itself
    constexpr rlim_t kEach = 4;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    const rlim_t places = limit.rlim_cur > kOthers ? (limit.rlim_cur - kOthers) / kEach : 16;
    taken_ = ++g_taken <= places;
    if (!taken_) --g_taken;
    return taken_;
  }

 private:
  static inline std::atomic<std::uint64_t> g_taken = 0;
  bool taken_ = false;
};

}  // namespace

struct EgressRelay::Connection {
  Place place;
  UniqueFd socket;
  std::string held;                                  // what the program has sent, and nobody has taken yet
  std::size_t room_for_held = kEgressUpWindowBytes;  // that init still may send
  std::size_t taken = 0;                             // of which init has not been told
  std::size_t room = kEgressWindowBytes;             // that init has
  bool program_ended = false;                        // the program sends nothing more
  bool taker_ended = false;                          // nor does whoever took the connection, and init knows
};

std::map<std::string, std::string> egress_environment() {
  const std::string http = fmt::format("http://127.0.0.1:{}", kEgressPort);
  const std::string socks = fmt::format("socks5h://127.0.0.1:{}", kEgressPort);
  const std::string local = "localhost,127.0.0.1,::1";
  return {{"HTTP_PROXY", http}, {"http_proxy", http}, {"HTTPS_PROXY", http}, {"https_proxy", http},
      {"NODE_USE_ENV_PROXY", "1"}, {"ALL_PROXY", socks}, {"all_proxy", socks}, {"NO_PROXY", local},
      {"no_proxy", local}};
}

Result<std::unique_ptr<EgressRelay>> EgressRelay::create(TakeConnection take, Send send) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return Error::from_errno(ErrorCode::environment_creation_failed, "eventfd", errno);
  std::unique_ptr<EgressRelay> relay(new EgressRelay(std::move(take), std::move(send), std::move(wake)));
  GUARD_TRY_ASSIGN(relay->thread_, new_thread([made = relay.get()] { made->serve(); }));
  return relay;
}

EgressRelay::EgressRelay(TakeConnection take, Send send, UniqueFd wake)
    : take_(std::move(take)), send_(std::move(send)), wake_(std::move(wake)) {}

EgressRelay::~EgressRelay() { stop(); }

void EgressRelay::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_up();
  if (thread_.joinable()) thread_.join();
}

void EgressRelay::finish() {
  stop();
  const Deadline until = Deadline::after(milliseconds(kLastBytesMs));
  std::vector<pollfd> fds;
  do {
    fds.clear();
    for (auto& [id, connection] : connections_) {
      flush(connection);
      if (!connection.held.empty()) fds.push_back({connection.socket.get(), POLLOUT, 0});
    }
    if (!fds.empty()) ::poll(fds.data(), fds.size(), until.poll_timeout());
  } while (!fds.empty() && !until.passed());
}

void EgressRelay::wake_up() const {
  const std::uint64_t one = 1;
  if (::write(wake_.get(), &one, sizeof one) < 0) {
    // It is readable already.
  }
}

Result<void> EgressRelay::open(std::uint32_t id) {
  std::array<int, 2> ends{-1, -1};
  UniqueFd theirs;
  {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = connections_.try_emplace(id);
    if (!is_new) return broken("a connection that is there already");
    Connection& connection = place->second;
    if (connections_.size() > 2 * kEgressConnectionsMax || !connection.place.take() ||
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      connections_.erase(place);
      refused_.push_back(id);
    } else {
      connection.socket = UniqueFd(ends[0]);
      theirs = UniqueFd(ends[1]);
    }
  }
  wake_up();
  take_(std::move(theirs));
  return ok();
}

Result<void> EgressRelay::push(std::uint32_t id, std::string_view said) {
  if (said.empty()) return broken("a malformed connection frame");
  const auto kind = static_cast<EgressKind>(said.front());
  const std::string_view payload = said.substr(1);
  if (kind == EgressKind::open && payload.empty()) return open(id);
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(id);
  if (found == connections_.end()) return ok();  // it is over here
  Connection& connection = found->second;
  if (connection.program_ended && connection.taker_ended) return ok();  // but for what is held
  if (kind == EgressKind::data && !payload.empty() && !connection.program_ended) {
    if (payload.size() > connection.room_for_held) return broken("more of a connection than there is room for");
    connection.room_for_held -= payload.size();
    connection.held += payload;
  } else if (kind == EgressKind::window && payload.size() == init_protocol::kNumberBytes) {
    const bool waits = connection.room > 0;  // for the taker already
    connection.room += init_protocol::read_number(payload.data());
    if (connection.room > kEgressWindowBytes) return broken("more room for a connection than there is");
    if (waits) return ok();
  } else if (kind == EgressKind::end && payload.empty() && !connection.program_ended) {
    connection.program_ended = true;
  } else if (kind == EgressKind::reset && payload.empty()) {
    connection.program_ended = connection.taker_ended = true;  // what was sent before is still taken
  } else {
    return broken("a malformed connection frame");
  }
  flush(connection);
  wake_up();
  return ok();
}

// Into the socket what it has room for.
void EgressRelay::flush(Connection& connection) {
  while (!connection.held.empty()) {
    const ssize_t sent =
        ::send(connection.socket.get(), connection.held.data(), connection.held.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    // Nobody reads it any more; that the socket has ended is seen where it is read.
    const std::size_t gone = sent < 0 ? connection.held.size() : static_cast<std::size_t>(sent);
    connection.held.erase(0, gone);
    connection.taken += gone;
  }
  if (connection.program_ended) ::shutdown(connection.socket.get(), SHUT_WR);
}

void EgressRelay::serve() noexcept {
  try {
    run();
  } catch (const std::exception&) {
    failed_ = true;  // there is no memory
  }
}

void EgressRelay::run() {
  while (!failed_) {
    const std::string frames = step();
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
    }
    if (!frames.empty() && !send_(frames)) failed_ = true;
  }
}

// Waits until something can be moved, moves it, and returns what init is to be told.
std::string EgressRelay::step() {
  std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
  std::vector<std::uint32_t> ids = {0};
  {
    const std::lock_guard lock(mutex_);
    const auto add = [&](auto begin, auto end) {
      for (auto next = begin; next != end; ++next) {
        const auto& [id, connection] = *next;
        const bool reads = connection.room > 0 && !connection.taker_ended;
        const auto events = static_cast<short>((reads ? POLLIN : 0) | (connection.held.empty() ? 0 : POLLOUT));
        // Of one that has ended its half the other end still comes, as a hang-up.
        if (events == 0 && !connection.taker_ended) continue;
        fds.push_back({connection.socket.get(), events, 0});
        ids.push_back(id);
      }
    };
    const auto first = connections_.lower_bound(turn_);
    add(first, connections_.end());
    add(connections_.begin(), first);
  }
  ::poll(fds.data(), fds.size(), -1);
  std::uint64_t ignored = 0;
  if (fds[0].revents != 0 && ::read(wake_.get(), &ignored, sizeof ignored) < 0) {
    // It is taken already.
  }
  std::string frames;
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t id : refused_) add_frame(frames, id, EgressKind::reset, {});
  refused_.clear();
  for (std::size_t i = 1; i < fds.size(); ++i) {
    const auto found = connections_.find(ids[i]);
    if (fds[i].revents == 0 || found == connections_.end()) continue;
    Connection& connection = found->second;
    if (connection.socket.get() != fds[i].fd) continue;
    if ((fds[i].revents & ~POLLIN) != 0) flush(connection);
    if (connection.taker_ended && (fds[i].revents & POLLHUP) != 0) {
      add_frame(frames, ids[i], EgressKind::reset, {});
      connections_.erase(found);
      continue;
    }
    if ((fds[i].revents & ~POLLOUT) == 0 || connection.room == 0 || connection.taker_ended) continue;
    if (frames.size() >= kBatchBytesMax) continue;
    turn_ = ids[i] + 1;
    std::array<char, kEgressPieceBytes> bytes;
    const ssize_t size =
        ::recv(connection.socket.get(), bytes.data(), std::min(bytes.size(), connection.room), MSG_DONTWAIT);
    if (size > 0) {
      connection.room -= static_cast<std::size_t>(size);
      add_frame(frames, ids[i], EgressKind::data, std::string_view(bytes.data(), static_cast<std::size_t>(size)));
    } else if (size == 0 && (fds[i].revents & POLLHUP) == 0) {
      connection.taker_ended = true;
      add_frame(frames, ids[i], EgressKind::end, {});
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
      add_frame(frames, ids[i], EgressKind::reset, {});
      connections_.erase(found);
    }
  }
  for (auto next = connections_.begin(); next != connections_.end();) {
    auto& [id, connection] = *next;
    // Not for every few bytes; but init must not wait for room that is there.
    if (connection.taken > 0 && (connection.taken >= kEgressPieceBytes || connection.held.empty())) {
      std::array<char, init_protocol::kNumberBytes> number;
      init_protocol::write_number(number.data(), static_cast<std::uint32_t>(connection.taken));
      connection.room_for_held += std::exchange(connection.taken, 0);
      add_frame(frames, id, EgressKind::window, std::string_view(number.data(), number.size()));
    }
    const bool over = connection.program_ended && connection.taker_ended && connection.held.empty();
    next = over ? connections_.erase(next) : std::next(next);
  }
  return frames;
}

}  // namespace guard
