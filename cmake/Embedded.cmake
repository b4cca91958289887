# Scenes as part of the program (cli/embedded.h): a C file with a table of names, into which the assembler
# takes the files as they are.
function(scree_embed output)
  set(text "/* Made by cmake/Embedded.cmake. */\n#include \"cli/embedded.h\"\n\n")
  set(table "")
  set(number 0)
  foreach(pair IN LISTS ARGN)
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 path)
    string(APPEND text
      "__asm__(\".section .rodata\\n.hidden cli_file_${number}\\n.hidden cli_file_${number}_end\\n\"\n"
      "        \".global cli_file_${number}\\n.global cli_file_${number}_end\\n\"\n"
      "        \"cli_file_${number}:\\n.incbin \\\"${path}\\\"\\ncli_file_${number}_end:\\n.byte 0\\n.text\\n\");\n"
      "extern const char cli_file_${number}[] __attribute__((visibility(\"hidden\")));\n"
      "extern const char cli_file_${number}_end[] __attribute__((visibility(\"hidden\")));\n")
    string(APPEND table "    {\"${name}\", cli_file_${number}, cli_file_${number}_end},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND text "\nconst CliFile cli_files[] = {\n${table}    {0}};\n")
  file(CONFIGURE OUTPUT "${output}" CONTENT "${text}" @ONLY)
endfunction()

file(GLOB embedded_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.yaml"
     "${PROJECT_SOURCE_DIR}/examples/*.csv" "${PROJECT_SOURCE_DIR}/examples/parts/*.yaml")
file(GLOB embedded_new CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/new/*.yaml")
set(embedded_pairs "")
foreach(path IN LISTS embedded_examples)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${path}")
  list(APPEND embedded_pairs "${name}|${path}")
endforeach()
foreach(path IN LISTS embedded_new)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/cli" "${path}")
  list(APPEND embedded_pairs "${name}|${path}")
endforeach()
scree_embed("${PROJECT_BINARY_DIR}/embedded.c" ${embedded_pairs})
set_source_files_properties("${PROJECT_BINARY_DIR}/embedded.c" PROPERTIES
  OBJECT_DEPENDS "${embedded_examples};${embedded_new}")
