# CPack has installed the project below its folder; files.sh does the rest.
execute_process(
  COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/files.sh" "${CPACK_TEMPORARY_DIRECTORY}"
  COMMAND_ERROR_IS_FATAL ANY)
