// The compiled half of toml++ (see GuardLibraries.cmake).
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
