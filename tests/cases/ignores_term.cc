// Does not heed TERM, and says when one comes.
#include <signal.h>
#include <unistd.h>

int main() {
  ::signal(SIGTERM, [](int) {
    const auto ignored = ::write(1, "TERM\n", 5);
    static_cast<void>(ignored);
  });
  const auto ignored = ::write(1, "started\n", 8);
  static_cast<void>(ignored);
  for (;;) ::pause();
}
