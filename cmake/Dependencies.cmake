# Dependencies of scree (docs/DEPENDENCIES.md says why, and under which licence). Each part becomes a
# target scree_dep_<name>, so that the rest of the build does not know where it was found.
# cmake/Libraries.cmake says which library links which. No GPL part is among them.
# Only what the libraries up to SCREE_LIBRARY need is looked for.
find_package(OpenMP REQUIRED COMPONENTS C)
if(SCREE_MPI)
  find_package(MPI REQUIRED COMPONENTS C) # On Debian: apt-get install libopenmpi-dev openmpi-bin
endif()

# PETSc, for linear systems on several ranks. Its headers are not warning-free: they are a system's.
if(SCREE_MPI AND SCREE_PETSC)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(SCREE_PETSC_ QUIET PETSc)
  set(petsc_parts "")
  foreach(folder IN LISTS SCREE_PETSC__INCLUDE_DIRS)
    if(EXISTS "${folder}/petscconf.h")
      file(STRINGS "${folder}/petscconf.h" petsc_parts REGEX "PETSC_HAVE_(MUMPS|HYPRE) 1")
    endif()
  endforeach()
  list(LENGTH petsc_parts petsc_count)
  if(petsc_count EQUAL 2)
    find_library(SCREE_PETSC_LIBRARY NAMES ${SCREE_PETSC__LIBRARIES} HINTS ${SCREE_PETSC__LIBRARY_DIRS})
    mark_as_advanced(SCREE_PETSC_LIBRARY)
    add_library(scree_dep_petsc INTERFACE IMPORTED GLOBAL)
    set_target_properties(scree_dep_petsc PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${SCREE_PETSC__INCLUDE_DIRS}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SCREE_PETSC__INCLUDE_DIRS}"
      INTERFACE_LINK_LIBRARIES "${SCREE_PETSC_LIBRARY}")
    message(STATUS "PETSc ${SCREE_PETSC__VERSION} with MUMPS and hypre: newton and ipm on several ranks")
  else()
    message(STATUS "PETSc with MUMPS and hypre was not found (Debian: petsc-dev): newton and ipm work on one rank")
  endif()
endif()

# scree_find(<name> HEADER <file> LIBRARIES <lib>... DEBIAN <package> [SUFFIXES <dir>...] [OPTIONAL])
function(scree_find name)
  cmake_parse_arguments(arg "OPTIONAL" "HEADER;DEBIAN" "LIBRARIES;SUFFIXES" ${ARGN})
  find_path(SCREE_${name}_INCLUDE_DIR "${arg_HEADER}" PATH_SUFFIXES ${arg_SUFFIXES})
  mark_as_advanced(SCREE_${name}_INCLUDE_DIR)
  set(missing "")
  if(NOT SCREE_${name}_INCLUDE_DIR)
    set(missing "${arg_HEADER}")
  endif()
  set(libraries "")
  foreach(library IN LISTS arg_LIBRARIES)
    find_library(SCREE_${name}_${library}_LIBRARY "${library}")
    mark_as_advanced(SCREE_${name}_${library}_LIBRARY)
    if(SCREE_${name}_${library}_LIBRARY)
      list(APPEND libraries "${SCREE_${name}_${library}_LIBRARY}")
    else()
      list(APPEND missing "lib${library}")
    endif()
  endforeach()
  if(missing AND arg_OPTIONAL)
    return()
  elseif(missing)
    list(JOIN missing ", " missing)
    message(FATAL_ERROR "${name}: ${missing} not found. On Debian: apt-get install ${arg_DEBIAN}")
  endif()
  add_library(scree_dep_${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(scree_dep_${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${SCREE_${name}_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${libraries}")
endfunction()

scree_find(amd HEADER amd.h SUFFIXES suitesparse LIBRARIES amd DEBIAN libsuitesparse-dev)
scree_find(metis HEADER metis.h LIBRARIES metis DEBIAN libmetis-dev)
scree_find(sundials HEADER sunlinsol/sunlinsol_spgmr.h
           LIBRARIES sundials_sunlinsolspgmr sundials_nvecserial DEBIAN libsundials-dev)

if("world" IN_LIST SCREE_LIBRARIES)
  scree_find(ccd HEADER ccd/ccd.h LIBRARIES ccd DEBIAN libccd-dev)
  scree_find(qhull HEADER libqhull_r/libqhull_r.h LIBRARIES qhull_r DEBIAN libqhull-dev)
endif()

# For the tests alone: LAPACK is their second opinion on factorisations.
if(SCREE_TESTS)
  find_package(LAPACK REQUIRED)
  scree_find(lapacke HEADER lapacke.h LIBRARIES lapacke DEBIAN liblapacke-dev)
  scree_find(cmocka HEADER cmocka.h LIBRARIES cmocka DEBIAN libcmocka-dev)
endif()

# All that follows is for the library of files, the program and the benchmarks.
if(NOT "scree" IN_LIST SCREE_LIBRARIES)
  return()
endif()

# HDF5, the serial one: Debian keeps it beside the MPI builds, under a name of its own. With MPI the parallel one
# takes its place where it is found: then all ranks write results.h5 together.
option(SCREE_PARALLEL_HDF5 "With SCREE_MPI, where HDF5 with MPI is found: all ranks write results.h5" ON)
find_package(PkgConfig REQUIRED)
if(SCREE_MPI AND SCREE_PARALLEL_HDF5)
  pkg_check_modules(SCREE_HDF5_MPI QUIET IMPORTED_TARGET GLOBAL hdf5-openmpi)
endif()
pkg_check_modules(SCREE_HDF5 QUIET IMPORTED_TARGET GLOBAL hdf5-serial)
if(SCREE_HDF5_MPI_FOUND AND SCREE_PARALLEL_HDF5)
  set(SCREE_HDF5 PkgConfig::SCREE_HDF5_MPI)
  message(STATUS "HDF5 ${SCREE_HDF5_MPI_VERSION} with MPI: all ranks write results.h5")
elseif(SCREE_HDF5_FOUND)
  set(SCREE_HDF5 PkgConfig::SCREE_HDF5)
else()
  find_package(HDF5 REQUIRED COMPONENTS C)
  set(SCREE_HDF5 hdf5::hdf5)
endif()
if(SCREE_MPI AND NOT SCREE_HDF5_MPI_FOUND)
  message(STATUS "HDF5 with MPI was not found (Debian: libhdf5-openmpi-dev): rank 0 writes results.h5")
endif()
find_package(ZLIB REQUIRED)
scree_find(yaml HEADER yaml.h LIBRARIES yaml DEBIAN libyaml-dev)
scree_find(deflate HEADER libdeflate.h LIBRARIES deflate DEBIAN libdeflate-dev)

# For bench/siconos_*.c alone.
scree_find(siconos HEADER SolverOptions.h SUFFIXES siconos/numerics
           LIBRARIES siconos_numerics DEBIAN libsiconos-numerics-dev OPTIONAL)
if(TARGET scree_dep_siconos)
  # Its headers include both <SiconosConfig.h> and each other by bare names; they are not warning-free.
  set_target_properties(scree_dep_siconos PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
    "${SCREE_siconos_INCLUDE_DIR};${SCREE_siconos_INCLUDE_DIR}/..")
  set_property(TARGET scree_dep_siconos APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES
    "${SCREE_siconos_INCLUDE_DIR}/..")
endif()

# For bench/engines alone.
scree_find(ode HEADER ode/ode.h LIBRARIES ode DEBIAN libode-dev OPTIONAL)
scree_find(mujoco HEADER mujoco/mujoco.h LIBRARIES mujoco DEBIAN libmujoco-dev OPTIONAL)
scree_find(bullet HEADER btBulletDynamicsCommon.h SUFFIXES bullet
           LIBRARIES BulletDynamics BulletCollision LinearMath DEBIAN libbullet-dev OPTIONAL)

# For bench/factor.c alone.
scree_find(suitesparse HEADER cholmod.h SUFFIXES suitesparse LIBRARIES cholmod umfpack
           DEBIAN libsuitesparse-dev OPTIONAL)
