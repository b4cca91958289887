# What is installed: the program, libscree.so, the public headers, find_package(scree) and scree.pc.
# tests/install checks all of it with a small program.
include(CMakePackageConfigHelpers)

install(TARGETS scree_shared EXPORT scree_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET scree)
  install(TARGETS scree RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/scree" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/scree")
install(EXPORT scree_targets NAMESPACE scree:: FILE scree-targets.cmake DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/scree-config.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/scree-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/scree-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/scree-config.cmake"
              "${PROJECT_BINARY_DIR}/cmake/scree-config-version.cmake" DESTINATION "${package_dir}")

# The prefix of scree.pc is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
configure_file("${PROJECT_SOURCE_DIR}/cmake/scree.pc.in" "${PROJECT_BINARY_DIR}/cmake/scree.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/scree.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
