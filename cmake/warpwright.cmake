# Settings shared by all targets (warnings as errors, sections that the linker can drop), and
# functions that keep a folder's CMakeLists.txt to its sources and dependencies.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS context)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL REQUIRED)

add_library(warpwright_options INTERFACE)
target_include_directories(warpwright_options INTERFACE ${CMAKE_BINARY_DIR}/generated)
target_compile_options(warpwright_options INTERFACE
  -Wall -Wextra -Werror -Wno-missing-field-initializers -ffunction-sections -fdata-sections)
# libstdc++ 12 marks its own std::get_temporary_buffer deprecated and calls it from std::stable_sort.
target_compile_options(warpwright_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
target_compile_definitions(warpwright_options INTERFACE BOOST_ASIO_NO_DEPRECATED)
target_link_options(warpwright_options INTERFACE -Wl,--gc-sections)
find_program(WARPWRIGHT_LLD NAMES ld.lld-22 ld.lld)
if(WARPWRIGHT_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(warpwright_options INTERFACE -fuse-ld=lld)
endif()
include(cmake/portable.cmake)
if(WARPWRIGHT_SANITIZE)
  target_compile_options(warpwright_options INTERFACE -fsanitize=${WARPWRIGHT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(warpwright_options INTERFACE -fsanitize=${WARPWRIGHT_SANITIZE})
else()
  # A program copied alone to another machine needs its C++ runtime linked statically. Targets that
  # link LibTorch share LibTorch's runtime (target property WARPWRIGHT_SHARED_RUNTIME).
  target_link_options(warpwright_options INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:WARPWRIGHT_SHARED_RUNTIME>>>:-static-libstdc++;-static-libgcc>)
endif()
find_program(WARPWRIGHT_CCACHE ccache)
if(WARPWRIGHT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${WARPWRIGHT_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-Xclang -fno-pch-timestamp)
  endif()
endif()

# The source root is not an include path. A target sees links to the headers of its own folders and
# of the folders of linked targets, so other headers cannot be included. The table in
# ARCHITECTURE.md lists which folder may link which.
function(warpwright_headers target)
  foreach(folder ${ARGN})
    string(REPLACE "/" "." name ${folder})
    set(links ${CMAKE_BINARY_DIR}/headers/${name})
    get_property(is_made GLOBAL PROPERTY warpwright_headers_${name})
    if(NOT is_made)
      set_property(GLOBAL PROPERTY warpwright_headers_${name} TRUE)
      file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${folder} ${CMAKE_SOURCE_DIR}/${folder}/*.h)
      file(GLOB old RELATIVE ${links}/${folder} ${links}/${folder}/*)
      file(MAKE_DIRECTORY ${links}/${folder})
      foreach(header ${headers})
        if(NOT header IN_LIST old)
          file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder}/${header} ${links}/${folder}/${header} SYMBOLIC)
        endif()
      endforeach()
      foreach(link ${old})
        if(NOT link IN_LIST headers)
          file(REMOVE ${links}/${folder}/${link})
        endif()
      endforeach()
    endif()
    target_include_directories(${target} PUBLIC ${links})
  endforeach()
endfunction()

# Writes each file as a C++ string literal to generated/PATH.inc, for #include.
function(warpwright_embed)
  foreach(path ${ARGN})
    file(READ ${CMAKE_SOURCE_DIR}/${path} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${path})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${path}.inc CONTENT "R\"cuda(@text@)cuda\"\n" @ONLY)
  endforeach()
endfunction()

# warpwright_library(name SOURCES... LINKS targets... PCH headers... HEADERS folders...): a static
# library. HEADERS: folders, relative to the root, whose headers it shares besides those of the
# folders of its sources.
function(warpwright_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PCH;HEADERS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC warpwright_options ${arg_LINKS})
  warpwright_source_headers(${name} ${arg_HEADERS})
  if(arg_PCH)
    target_precompile_headers(${name} PRIVATE ${arg_PCH})
  endif()
endfunction()

# Adds the headers of the folders of a target's sources, and of the given folders.
function(warpwright_source_headers target)
  set(folders ${ARGN})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${source} NORMALIZE is_generated)
    if(NOT is_generated)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      list(APPEND folders ${folder})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  warpwright_headers(${target} ${folders})
endfunction()

# warpwright_program(name SOURCES... LINKS targets...): a program that looks for libraries in the
# system's folders only, not in those of this machine's toolchain.
function(warpwright_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  target_link_libraries(${name} PRIVATE warpwright_options ${arg_LINKS})
  warpwright_source_headers(${name})
endfunction()

# warpwright_folder(path LINKS folders-and-targets... PARTS subfolders... SHARES_PCH target): a
# library of all sources of a folder. The target's name is the path with _ for /. Links of the form
# a/b are folders. PARTS: subfolders whose sources belong to the library.
function(warpwright_folder path)
  cmake_parse_arguments(arg "" "SHARES_PCH" "LINKS;PARTS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  string(REPLACE "/" "_" links "${arg_LINKS}")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${path}/*.cpp)
  set(folders ${path})
  foreach(part ${arg_PARTS})
    file(GLOB more CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${path}/${part}/*.cpp)
    list(APPEND sources ${more})
    list(APPEND folders ${path}/${part})
  endforeach()
  warpwright_library(${name} SOURCES ${sources} LINKS ${links} HEADERS ${folders})
  if(arg_SHARES_PCH)
    target_precompile_headers(${name} REUSE_FROM ${arg_SHARES_PCH})
  endif()
endfunction()

# Source tree that tests read from. tests/additions builds a copy of the tree and passes the
# original here, so that the objects of tests come from ccache.
set(WARPWRIGHT_TESTED_DIR ${CMAKE_SOURCE_DIR} CACHE PATH "Folder that tests read files of the source tree from")
set(WARPWRIGHT_TESTED_PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} CACHE PATH "Folder that tests run programs from")

# warpwright_test(name SOURCES... LINKS targets... LABELS labels... SEPARATE): one doctest executable, one CTest entry.
# SEPARATE: functions of several sources have the same names, so that each source is compiled alone.
function(warpwright_test name)
  cmake_parse_arguments(arg "SEPARATE" "TIMEOUT" "SOURCES;LINKS;LABELS;PCH" ${ARGN})
  add_executable(${name} ${CMAKE_SOURCE_DIR}/tests/main.cpp ${arg_SOURCES})
  if(arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(${name} PRIVATE warpwright_options ${arg_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE WARPWRIGHT_SOURCE_DIR="${WARPWRIGHT_TESTED_DIR}"
    WARPWRIGHT_BINARY_DIR="${WARPWRIGHT_TESTED_PROGRAMS}")
  if(arg_PCH)
    target_precompile_headers(${name} PRIVATE ${arg_PCH})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    SKIP_REGULAR_EXPRESSION "all cases skipped")
endfunction()
