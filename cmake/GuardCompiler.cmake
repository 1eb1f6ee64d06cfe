# One interface target carries our warnings and hardening; foreign headers are SYSTEM and stay out of it.
add_library(guard_compile_options INTERFACE)
target_include_directories(guard_compile_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(guard_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -fno-plt -fstack-protector-strong)
if(GUARD_WERROR)
  target_compile_options(guard_compile_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overflows and uses of uninitialised memory in std::string and std::optional that are not there
  # (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651 and its kin), at -O2 and with sanitizers.
  target_compile_options(guard_compile_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  if(NOT GUARD_SANITIZE)
    target_compile_definitions(guard_compile_options INTERFACE _FORTIFY_SOURCE=2)
  endif()
endif()
target_compile_definitions(guard_compile_options INTERFACE _GLIBCXX_ASSERTIONS)

# What is never called is not in the binary, and so not in the pages that a start reads.
target_compile_options(guard_compile_options INTERFACE -ffunction-sections -fdata-sections)
target_link_options(guard_compile_options INTERFACE -Wl,--gc-sections)

if(GUARD_SANITIZE)
  # Global: a container annotated in one file and not in another is a false alarm.
  add_compile_options(-fsanitize=${GUARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GUARD_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND GUARD_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=function)  # clang 14 can't put its words before the parts of a coroutine
  endif()
endif()

find_program(GUARD_CCACHE ccache)
if(GUARD_CCACHE)
  # Without the sloppiness it keeps nothing that was compiled with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${GUARD_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${GUARD_CCACHE}")
endif()
