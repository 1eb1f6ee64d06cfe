# Debian's packages, each seen by as few source files as possible. Static archives where Debian ships them: start-up is
# a feature, and every shared library costs it.
find_package(PkgConfig REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)

function(guard_archive target archive header)
  find_library(${target}_PATH NAMES ${archive} REQUIRED)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE "${${target}_PATH}" ${ARGN})
  target_include_directories(${target} SYSTEM INTERFACE "${${target}_INCLUDE}")
endfunction()

guard_archive(guard_re2 libre2.a re2/re2.h Threads::Threads)
guard_archive(guard_hs libhs.a hs/hs.h m)
# Debian's archive has the matchers five times, 1.3 MB each, and a dispatcher that asks the CPU for each function anew,
# which stops a virtual machine. Ours stands before the archive, so the linker takes two of the five: that for AVX-512
# took as long here as what is for AVX2, and no CPU since 2009 lacks SSE4.2 (HyperscanScanner::available() asks for it).
execute_process(COMMAND "${CMAKE_NM}" -A "${guard_hs_PATH}" OUTPUT_VARIABLE names ERROR_QUIET)
string(REGEX MATCHALL "dispatcher\\.c\\.o: +U avx2_[A-Za-z0-9_]+" names "${names}")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_library(guard_hs_parts STATIC "${CMAKE_CURRENT_LIST_DIR}/hyperscan_parts.cc")
  if(names)
    set(assembly "")
    foreach(name IN LISTS names)
      string(REGEX REPLACE ".* avx2_" "" name "${name}")
      string(APPEND assembly "  .section .text.${name},\"ax\",@progbits\n  .globl ${name}\n  .type ${name},@function\n"
        "${name}:\n  cmpb $0, guard_hyperscan_avx2(%rip)\n  je corei7_${name}\n  jmp avx2_${name}\n")
    endforeach()
    foreach(name IN ITEMS corei7_Crc32c_ComputeBuf avx2_Crc32c_ComputeBuf)
      string(APPEND assembly "  .globl ${name}\n${name}:\n  jmp guard_hyperscan_checksum\n")
    endforeach()
    set(parts "${PROJECT_BINARY_DIR}/generated/hyperscan.S")
    file(CONFIGURE OUTPUT "${parts}" CONTENT "${assembly}  .section .note.GNU-stack,\"\",@progbits\n" @ONLY)
    target_sources(guard_hs_parts PRIVATE "${parts}")
  endif()
  set_property(TARGET guard_hs PROPERTY INTERFACE_LINK_LIBRARIES "guard_hs_parts;${guard_hs_PATH};m")
endif()
guard_archive(guard_seccomp libseccomp.a seccomp.h)
guard_archive(guard_cares libcares.a ares.h)
guard_archive(guard_zlib libz.a zlib.h)
guard_archive(guard_zstd libzstd.a zstd.h Threads::Threads)
guard_archive(guard_sqlite libsqlite3.a sqlite3.h Threads::Threads dl m)
guard_archive(guard_pugixml libpugixml.a pugixml.hpp)
guard_archive(guard_crypto libcrypto.a openssl/evp.h Threads::Threads dl)
guard_archive(guard_libarchive libarchive.a archive.h guard_zstd guard_zlib)
guard_archive(guard_tls libssl.a openssl/ssl.h guard_crypto)

# fmt and toml++ come as shared libraries only; their sources are in the headers, so each is compiled here once.
add_library(guard_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/fmt_library.cc")
add_library(guard_toml STATIC "${CMAKE_CURRENT_LIST_DIR}/toml_library.cc")
target_compile_definitions(guard_toml PUBLIC TOML_HEADER_ONLY=0 TOML_EXCEPTIONS=0 TOML_ENABLE_WINDOWS_COMPAT=0)
# toml++ 3.3 calls the default of a switch unreachable that U+00A1 to U+0499 reach outside of strings. Both cases that
# are left answer what is right for them, so this is a fault of the note and not of the result; the sanitizer stops
# there all the same.
if(GUARD_SANITIZE)
  target_compile_options(guard_toml PRIVATE -fno-sanitize=unreachable)
endif()
add_library(guard_spdlog_headers INTERFACE)
target_compile_definitions(guard_spdlog_headers INTERFACE SPDLOG_FMT_EXTERNAL)

find_package(Boost 1.79 REQUIRED)
add_library(guard_boost INTERFACE)
target_link_libraries(guard_boost INTERFACE Threads::Threads)
target_include_directories(guard_boost SYSTEM INTERFACE "${Boost_INCLUDE_DIRS}")
target_compile_definitions(guard_boost INTERFACE BOOST_ERROR_CODE_HEADER_ONLY BOOST_ASIO_NO_DEPRECATED)

find_package(nlohmann_json 3.11 REQUIRED)
add_library(guard_json INTERFACE)
target_link_libraries(guard_json INTERFACE nlohmann_json::nlohmann_json)
# Validates documents against JSON schemas; headers only.
find_path(guard_valijson_INCLUDE valijson/schema.hpp REQUIRED)
target_include_directories(guard_json SYSTEM INTERFACE "${guard_valijson_INCLUDE}")
find_path(guard_cli11_INCLUDE CLI/CLI.hpp REQUIRED)
add_library(guard_cli11 INTERFACE)
target_include_directories(guard_cli11 SYSTEM INTERFACE "${guard_cli11_INCLUDE}")
