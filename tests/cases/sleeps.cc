// Never ends by itself; TERM ends it.
#include <unistd.h>

#include <cstdio>

int main() {
  std::puts("started");
  std::fflush(stdout);
  for (;;) ::pause();
}
