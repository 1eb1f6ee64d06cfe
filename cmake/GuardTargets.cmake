# guard_library(name [FOLDER folder] DEPENDS ... PRIVATE_DEPENDS ...): one static library of every .cc below the folder,
# but for programs that run during the build, what they generate is compiled into, and folders that are libraries of
# their own.
set(guard_not_in_libraries
  cli/main.cc rules/rules_compiler.cc rules/shipped_rules.cc rules/surface_compiler.cc redact/kinds/kinds_compiler.cc
  redact/kinds/shipped_kinds.cc runner/sandbox/seccomp_compiler.cc)

function(guard_library name)
  cmake_parse_arguments(ARG "" "FOLDER" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER "${name}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${ARG_FOLDER}/*.cc")
  list(REMOVE_ITEM sources ${guard_not_in_libraries})
  if(name STREQUAL "pipeline")
    list(FILTER sources EXCLUDE REGEX "^pipeline/config/")
  endif()
  add_library(guard_${name} STATIC ${sources})
  target_link_libraries(guard_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} guard_compile_options)
  target_include_directories(guard_${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
  # What reads every byte is built for speed; the rest starts sooner, and compiles faster, when it is small.
  if(NOT name MATCHES "^(common|rules|validator|redact|config)$")
    target_compile_options(guard_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
endfunction()

# guard_embed(target symbol file): the bytes of `file` become `extern "C" const unsigned char SYMBOL[], SYMBOL_end[]`,
# 64-byte aligned, in read-only memory.
function(guard_embed target symbol file)
  set(assembly "${PROJECT_BINARY_DIR}/generated/embed/${symbol}.S")
  file(CONFIGURE OUTPUT "${assembly}" CONTENT [[
  .section .rodata
  .balign 64
  .global @symbol@
@symbol@:
  .incbin "@file@"
  .global @symbol@_end
@symbol@_end:
  .byte 0
  .section .note.GNU-stack,"",%progbits
]] @ONLY)
  enable_language(ASM)
  set_source_files_properties("${assembly}" PROPERTIES OBJECT_DEPENDS "${file}")
  target_sources(${target} PRIVATE "${assembly}")
endfunction()
