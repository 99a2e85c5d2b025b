# Install rules, and the packages that CPack makes of them: .tar.xz and .deb (`make package`,
# scripts/package.sh).
#
# Both packages have the same layout below their prefix, so unpacking the archive into ~/.local or
# /usr/local installs it:
#   lib/warpwright/      the programs, the capture library, and torch/ for the runner's Python workers
#   bin/                 links to the programs that users call
#   share/warpwright/    docs/ (explanations that diagnostics link to), examples/, skills/ (for
#                        coding agents), tasks/ (the trainer's suite), policy.safetensors and ranker.bin (weights of the
#                        builtin policy and of the learned cost model, if the source tree has them), LICENSE, NOTICE, THIRD_PARTY.txt, sbom.spdx.json and licenses/ (of
#                        linked code, by scripts/notices.py)
#   share/doc/warpwright/copyright   the license in the form of Debian packages
#   share/nvim/site/...  the Neovim plugin, in a folder that Neovim searches
# warpwright-train is omitted, because it needs the LibTorch that it was built with. The packages
# have warpwright-collect instead, the same program without training, which asks endpoints for
# warpwright. warpwright runs the builtin policy itself.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(system arm64)
  set(debian_architecture arm64)
else()
  set(system x86_64)
  set(debian_architecture amd64)
endif()
set(WARPWRIGHT_SYSTEM ${system} CACHE INTERNAL "Architecture of the programs in names of packages; scripts read it")
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # packing does not build

set(programs lib/warpwright)
set(shared share/warpwright)
foreach(target warpwright warpwright-runner warpwright-worker-cpu warpwright-kernelbench warpwright-collect)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${programs})
  endif()
endforeach()
install(TARGETS warpwright-capture LIBRARY DESTINATION ${programs})
install(TARGETS warpwright-worker LIBRARY DESTINATION ${programs}/torch)
install(DIRECTORY runner/torch/python/ DESTINATION ${programs}/torch PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/torch/tracing/operators.json DESTINATION ${programs}/torch/tracing)
install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/torch/warpwright_runtime DESTINATION ${programs}/torch PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${shared} FILES_MATCHING PATTERN *.whl)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/links)
foreach(program warpwright warpwright-runner warpwright-kernelbench)
  file(CREATE_LINK ../lib/warpwright/${program} ${CMAKE_BINARY_DIR}/links/${program} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/links/${program} DESTINATION bin)
endforeach()

install(DIRECTORY docs/ DESTINATION ${shared}/docs FILES_MATCHING PATTERN *.md PATTERN *.png)
install(FILES README.md DESTINATION ${shared})
install(DIRECTORY examples/ DESTINATION ${shared}/examples)
install(DIRECTORY skills/ DESTINATION ${shared}/skills)
install(DIRECTORY trainer/tasks/suite/ DESTINATION ${shared}/tasks)
install(FILES trainer/weights/policy.safetensors trainer/weights/ranker.bin DESTINATION ${shared} OPTIONAL)
# scripts/package.sh prepares the plugin's folder, with the index of its help.
install(DIRECTORY ${CMAKE_BINARY_DIR}/warpwright.nvim DESTINATION share/nvim/site/pack/warpwright/start OPTIONAL)
# The project's license and the licenses of linked code. They are collected at install time, when
# ninja knows the linked files.
find_program(WARPWRIGHT_NOTICES_PYTHON NAMES python3)
install(CODE "execute_process(COMMAND \"${WARPWRIGHT_NOTICES_PYTHON}\" \"${CMAKE_SOURCE_DIR}/scripts/notices.py\" programs
  \"${CMAKE_BINARY_DIR}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${shared}\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES cmake/copyright DESTINATION share/doc/warpwright)

set(CPACK_PACKAGE_NAME warpwright)
set(CPACK_PACKAGE_VENDOR "Warpwright maintainers")
set(CPACK_PACKAGE_CONTACT "Warpwright maintainers <maintainers@warpwright.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "faster CUDA kernels and PyTorch modules, verified and measured")
set(CPACK_PACKAGE_DESCRIPTION "Language server, command line and runner that search faster versions of CUDA kernels
and torch modules, prove each against the code as written and measure it on the GPU
before it is offered. With a plugin for Neovim. Needs no CUDA toolkit; NVRTC and a
driver are found when present, and the CPU proves correctness without them.")
set(CPACK_PACKAGE_FILE_NAME warpwright-${PROJECT_VERSION}-linux-${WARPWRIGHT_SYSTEM})
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_THREADS 0)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME warpwright_${PROJECT_VERSION}_${debian_architecture}.deb)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${debian_architecture})
set(oldest_glibc ${WARPWRIGHT_GLIBC})
if(NOT oldest_glibc)
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE oldest_glibc OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "glibc " "" oldest_glibc "${oldest_glibc}")
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${oldest_glibc})")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "neovim (>= 0.7.2), python3-torch")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz) # dpkg reads zstd only since Debian 12
set(CPACK_PACKAGING_INSTALL_PREFIX "") # archive: none; .deb: /usr (scripts/package.sh)
include(CPack)
