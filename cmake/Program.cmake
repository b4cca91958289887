# The program and the benchmarks. They need all three libraries.

# The program.
file(GLOB program_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/*.c"
     "${PROJECT_SOURCE_DIR}/cli/bench/*.c")
if(program_sources)
  include(cmake/Embedded.cmake)
  add_executable(scree ${program_sources} "${PROJECT_BINARY_DIR}/embedded.c")
  target_include_directories(scree PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(scree PRIVATE scree_flags scree_static)
  set_target_properties(scree PROPERTIES
    OUTPUT_NAME scree RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endif()

# Benchmarks: built by the target `benches` (which `make test` builds, so that they do not rot) and
# run by hand. bench/siconos_*.c compare with Siconos and are built where it is installed;
# bench/factor.c compares with CHOLMOD and UMFPACK, which the library itself never links (GPL).
add_custom_target(benches)
file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.c")
foreach(source IN LISTS bench_sources)
  get_filename_component(name "${source}" NAME_WE)
  if(name MATCHES "^siconos_" AND NOT TARGET scree_dep_siconos)
    message(STATUS "bench/${name}: not built, Siconos was not found (libsiconos-numerics-dev)")
    continue()
  endif()
  add_executable(bench_${name} EXCLUDE_FROM_ALL "${source}")
  target_include_directories(bench_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(bench_${name} PRIVATE SCREE_PROBLEMS="${SCREE_PROBLEMS}")
  target_link_libraries(bench_${name} PRIVATE scree_flags scree_static)
  if(name MATCHES "^siconos_")
    target_link_libraries(bench_${name} PRIVATE scree_dep_siconos)
  endif()
  if(name STREQUAL "factor" AND TARGET scree_dep_suitesparse)
    target_link_libraries(bench_${name} PRIVATE scree_dep_suitesparse)
    target_compile_definitions(bench_${name} PRIVATE SCREE_BENCH_SUITESPARSE)
  endif()
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  add_dependencies(benches bench_${name})
endforeach()

include(bench/engines/Engines.cmake)
