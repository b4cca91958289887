# bench/engines compares with whichever of Bullet, ODE, MuJoCo and YADE is installed.
set(engine_sources engines.c judge.c engine_scree.c)
set(engine_parts "")
set(engine_definitions "")
foreach(engine IN ITEMS bullet ode mujoco)
  if(NOT TARGET scree_dep_${engine})
    message(STATUS "bench/engines: without ${engine}, which was not found (lib${engine}-dev)")
    continue()
  endif()
  string(TOUPPER ${engine} upper)
  list(APPEND engine_parts scree_dep_${engine})
  list(APPEND engine_definitions SCREE_BENCH_${upper})
  # Their headers are not free of warnings.
  get_target_property(directory scree_dep_${engine} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(scree_dep_${engine} PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directory}")
  if(engine STREQUAL "bullet")
    enable_language(CXX)
    list(APPEND engine_sources engine_bullet.cc)
  else()
    list(APPEND engine_sources engine_${engine}.c)
  endif()
endforeach()
find_program(SCREE_YADE yade)
if(SCREE_YADE)
  list(APPEND engine_sources engine_yade.c)
  list(APPEND engine_definitions SCREE_BENCH_YADE
    SCREE_ENGINE_YADE="${PROJECT_SOURCE_DIR}/bench/engines/engine_yade.py")
else()
  message(STATUS "bench/engines: without yade, which was not found (yade)")
endif()
list(TRANSFORM engine_sources PREPEND "${PROJECT_SOURCE_DIR}/bench/engines/")

add_executable(bench_engines EXCLUDE_FROM_ALL ${engine_sources})
target_include_directories(bench_engines PRIVATE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(bench_engines PRIVATE ${engine_definitions}
  SCREE_PROBLEMS="${SCREE_PROBLEMS}"
  SCREE_ENGINE_SCENES="${PROJECT_SOURCE_DIR}/bench/engines/scenes")
target_link_libraries(bench_engines PRIVATE scree_flags scree_static ${engine_parts})
set_target_properties(bench_engines PROPERTIES
  OUTPUT_NAME engines RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
add_dependencies(benches bench_engines)
