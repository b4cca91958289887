# The three libraries, each usable without the next (docs/ARCHITECTURE.md):
#   scree::solver  libscree-solver.so  contact problems and their solvers; no HDF5, no YAML
#   scree::world   libscree-world.so   bodies that move and touch; uses the first
#   scree::scree   libscree.so         files: FCLIB, scenes, runs, views; uses both
# and scree_static, all of them as one archive: the program, the tests and the benchmarks link that,
# since they see internal functions. The same objects go into both.
# SCREE_LIBRARIES, the list of those that are built, is set from SCREE_LIBRARY in CMakeLists.txt.

set(SCREE_FOLDERS_solver core math parallel problem solver)
set(SCREE_HEADERS_solver base set options parallel problem measure solver)
set(SCREE_NEEDS_solver OpenMP::OpenMP_C scree_dep_amd scree_dep_metis scree_dep_sundials m)

if(SCREE_MPI)
  list(APPEND SCREE_NEEDS_solver MPI::MPI_C)
endif()
if(TARGET scree_dep_petsc)
  list(APPEND SCREE_NEEDS_solver scree_dep_petsc)
endif()

set(SCREE_FOLDERS_world geometry element body law joint step world)
set(SCREE_HEADERS_world pose shape element body law contact joint cell step world)
set(SCREE_NEEDS_world OpenMP::OpenMP_C scree_dep_ccd scree_dep_qhull m)

set(SCREE_FOLDERS_scree fclib scene run view)
set(SCREE_HEADERS_scree fclib scene run view scree)
set(SCREE_NEEDS_scree ${SCREE_HDF5} scree_dep_yaml scree_dep_deflate ZLIB::ZLIB m)

set(SCREE_DEPENDENCIES "")
foreach(library IN LISTS SCREE_LIBRARIES)
  list(APPEND SCREE_DEPENDENCIES ${SCREE_NEEDS_${library}})
endforeach()
list(REMOVE_DUPLICATES SCREE_DEPENDENCIES)

set(library_sources "")
set(library_objects "")
set(before "")
foreach(library IN LISTS SCREE_LIBRARIES)
  set(globs ${SCREE_FOLDERS_${library}})
  list(TRANSFORM globs PREPEND "${PROJECT_SOURCE_DIR}/src/")
  list(TRANSFORM globs APPEND "/*.c")
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  # src/parallel has a form with MPI and one without; the build has one of them.
  if(SCREE_MPI)
    list(FILTER sources EXCLUDE REGEX "/parallel/[a-z_]*_serial\\.c$")
  else()
    list(FILTER sources EXCLUDE REGEX "/parallel/[a-z_]*_mpi\\.c$")
  endif()
  # results.h5 of several ranks by HDF5 with MPI, or by rank 0.
  if(SCREE_HDF5_MPI_FOUND AND SCREE_PARALLEL_HDF5)
    list(FILTER sources EXCLUDE REGEX "/run/results_shared_none\\.c$")
  else()
    list(FILTER sources EXCLUDE REGEX "/run/results_shared_hdf5\\.c$")
  endif()
  if(NOT TARGET scree_dep_petsc)
    list(FILTER sources EXCLUDE REGEX "/parallel/petsc_[a-z_]*\\.c$")
  endif()
  list(APPEND library_sources ${sources})
  list(APPEND library_objects $<TARGET_OBJECTS:scree_objects_${library}>)

  add_library(scree_objects_${library} OBJECT ${sources})
  target_include_directories(scree_objects_${library} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(scree_objects_${library} PRIVATE scree_flags ${SCREE_NEEDS_${library}})

  if(library STREQUAL "scree")
    set(name scree)
  else()
    set(name scree-${library})
  endif()
  set(map "${PROJECT_SOURCE_DIR}/cmake/exports-${library}.map")
  add_library(scree_shared_${library} SHARED $<TARGET_OBJECTS:scree_objects_${library}>)
  add_library(scree::${library} ALIAS scree_shared_${library})
  target_include_directories(scree_shared_${library} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(scree_shared_${library} PUBLIC ${before}
    PRIVATE $<BUILD_INTERFACE:scree_flags> ${SCREE_NEEDS_${library}})
  # Undefined references are reported when a library is linked, not when it is used.
  target_link_options(scree_shared_${library} PRIVATE "-Wl,--version-script=${map}")
  if(NOT SCREE_SANITIZE AND NOT SCREE_TSAN)
    target_link_options(scree_shared_${library} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(scree_shared_${library} PROPERTIES
    LINK_DEPENDS "${map}" OUTPUT_NAME ${name} EXPORT_NAME ${library}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(before scree_shared_${library})
endforeach()

# All of them.
add_custom_target(scree_shared)
foreach(library IN LISTS SCREE_LIBRARIES)
  add_dependencies(scree_shared scree_shared_${library})
endforeach()

add_library(scree_static STATIC ${library_objects})
target_include_directories(scree_static PUBLIC
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(scree_static PUBLIC ${SCREE_DEPENDENCIES})
set_target_properties(scree_static PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# A folder that is in no library is a mistake.
file(GLOB folders RELATIVE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/*")
list(REMOVE_ITEM folders ${SCREE_FOLDERS_solver} ${SCREE_FOLDERS_world} ${SCREE_FOLDERS_scree})
if(folders)
  message(FATAL_ERROR "src/${folders}: name it in cmake/Libraries.cmake")
endif()

if(NOT "scree" IN_LIST SCREE_LIBRARIES)
  return()
endif()

# The page of `scree report` is kept built (viewer/dist), so that this needs no Node.
set(page "${PROJECT_SOURCE_DIR}/viewer/dist/page.html")
if(EXISTS "${page}")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/view/report_page.c" PROPERTIES
    COMPILE_DEFINITIONS "SCREE_PAGE_FILE=\"${page}\"" OBJECT_DEPENDS "${page}")
else()
  message(STATUS "viewer/dist/page.html is absent: scree report and scree view will say so")
endif()
