# guard_library(name DEPENDS ... PRIVATE_DEPENDS ...): one static library per folder, of every .cc directly in it.
function(guard_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${name}/*.cc")
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/cli/main.cc" "${PROJECT_SOURCE_DIR}/rules/rules_compiler.cc"
       "${PROJECT_SOURCE_DIR}/rules/shipped_rules.cc" "${PROJECT_SOURCE_DIR}/rules/surface_compiler.cc"
       "${PROJECT_SOURCE_DIR}/redact/kinds_compiler.cc" "${PROJECT_SOURCE_DIR}/redact/shipped_kinds.cc"
       "${PROJECT_SOURCE_DIR}/runner/seccomp_compiler.cc")
  if(NOT sources)
    add_library(guard_${name} INTERFACE)
    target_link_libraries(guard_${name} INTERFACE ${ARG_DEPENDS})
    return()
  endif()
  add_library(guard_${name} STATIC ${sources})
  target_link_libraries(guard_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} guard_compile_options)
  target_include_directories(guard_${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
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
