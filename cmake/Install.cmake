# Installed files, in four components:
#   solver   libscree-solver.so, its headers, scree-solver.pc, the CMake package itself
#   world    libscree-world.so, its headers, scree-world.pc; needs solver
#   scree    libscree.so, its headers, scree.pc; needs world
#   program  the program scree
# All by default; one with `cmake --install build --component solver`. A program asks for one with
# find_package(scree REQUIRED COMPONENTS world) and links scree::world, or with pkg-config scree-world.
# tests/install checks all of it with small programs.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/scree")
# The prefix of a .pc file is relative to it, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")

set(pc_description_solver "Solvers for discrete frictional contact problems")
set(pc_description_world "Rigid bodies in hard frictional contact, stepped in time")
set(pc_description_scree "${PROJECT_DESCRIPTION}")
set(pc_requires "")
foreach(library IN LISTS SCREE_LIBRARIES)
  get_target_property(pc_name scree_shared_${library} OUTPUT_NAME)
  set(pc_description "${pc_description_${library}}")
  install(TARGETS scree_shared_${library} EXPORT ${pc_name}-targets
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${library})
  install(EXPORT ${pc_name}-targets NAMESPACE scree:: DESTINATION "${package_dir}"
          COMPONENT ${library})
  set(headers ${SCREE_HEADERS_${library}})
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/include/scree/")
  list(TRANSFORM headers APPEND ".h")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/scree" COMPONENT ${library})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/scree.pc.in"
                 "${PROJECT_BINARY_DIR}/cmake/${pc_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/${pc_name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${library})
  set(pc_requires "${pc_name} = ${PROJECT_VERSION}")
endforeach()

# A header that is in no component is a mistake.
file(GLOB headers RELATIVE "${PROJECT_SOURCE_DIR}/include/scree" "${PROJECT_SOURCE_DIR}/include/scree/*.h")
list(TRANSFORM headers REPLACE "\\.h$" "")
list(REMOVE_ITEM headers ${SCREE_HEADERS_solver} ${SCREE_HEADERS_world} ${SCREE_HEADERS_scree})
if(headers)
  message(FATAL_ERROR "include/scree/${headers}.h: name it in cmake/Libraries.cmake")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/scree-config.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/scree-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/scree-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/scree-config.cmake"
              "${PROJECT_BINARY_DIR}/cmake/scree-config-version.cmake"
        DESTINATION "${package_dir}" COMPONENT solver)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT solver)
if(TARGET scree)
  install(TARGETS scree RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  # Manual page and completion, printed by the program itself; examples, schema, documents.
  set(made "${PROJECT_BINARY_DIR}/share")
  add_custom_command(TARGET scree POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory "${made}"
    COMMAND scree manual > "${made}/scree.1"
    COMMAND scree completion bash > "${made}/scree.bash"
    COMMAND scree completion zsh > "${made}/_scree"
    COMMAND scree completion fish > "${made}/scree.fish" VERBATIM)
  install(FILES "${made}/scree.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program)
  install(FILES "${made}/scree.bash" RENAME scree
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
  install(FILES "${made}/_scree" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions"
          COMPONENT program)
  install(FILES "${made}/scree.fish"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT program)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DATADIR}/scree"
          COMPONENT program)
  install(FILES "${PROJECT_SOURCE_DIR}/docs/scene.schema.json"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/scree" COMPONENT program)
  # Documents in the folders that they have in the source, with all that they show and link to.
  install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
                "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
          DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
  foreach(folder docs bench/results bench/scenes python/gallery tests/install)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" COMPONENT program
            DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" PATTERN "__pycache__" EXCLUDE)
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/fuzz/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/fuzz"
          COMPONENT program)
  file(RELATIVE_PATH doc_to_examples "/p/${CMAKE_INSTALL_DOCDIR}"
       "/p/${CMAKE_INSTALL_DATADIR}/scree/examples")
  file(RELATIVE_PATH doc_to_headers "/p/${CMAKE_INSTALL_DOCDIR}" "/p/${CMAKE_INSTALL_INCLUDEDIR}")
  set(installed_docs "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}")
  install(CODE "file(CREATE_LINK \"${doc_to_examples}\" \"${installed_docs}/examples\" SYMBOLIC)
    file(CREATE_LINK \"${doc_to_headers}\" \"${installed_docs}/include\" SYMBOLIC)"
          COMPONENT program)
endif()

# `make package`: one Debian package with program, libraries, headers, schema, examples and documents.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME scree)
set(CPACK_PACKAGE_VENDOR scree)
set(CPACK_PACKAGE_CONTACT "scree developers <scree@localhost>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "chromium, ffmpeg, paraview")
include(CPack)
