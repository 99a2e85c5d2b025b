# What every target of the project shares: warnings as errors, sections that the linker can drop,
# and two helpers so that a folder's CMakeLists.txt lists sources and dependencies and nothing else.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS context)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL REQUIRED)

add_library(warpwright_options INTERFACE)
target_include_directories(warpwright_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(warpwright_options INTERFACE
  -Wall -Wextra -Werror -Wno-missing-field-initializers -ffunction-sections -fdata-sections)
# libstdc++ 12 marks its own std::get_temporary_buffer deprecated and calls it from std::stable_sort.
target_compile_options(warpwright_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
target_compile_definitions(warpwright_options INTERFACE
  BOOST_ASIO_NO_DEPRECATED WARPWRIGHT_VERSION="${PROJECT_VERSION}")
target_link_options(warpwright_options INTERFACE -Wl,--gc-sections)
find_program(WARPWRIGHT_LLD NAMES ld.lld-22 ld.lld)
if(WARPWRIGHT_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(warpwright_options INTERFACE -fuse-ld=lld)
endif()
if(WARPWRIGHT_SANITIZE)
  target_compile_options(warpwright_options INTERFACE -fsanitize=${WARPWRIGHT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(warpwright_options INTERFACE -fsanitize=${WARPWRIGHT_SANITIZE})
else()
  # One file copied to another machine must find its C++ runtime inside itself.
  # What links LibTorch shares the runtime that LibTorch uses (target property WARPWRIGHT_SHARED_RUNTIME).
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

# warpwright_library(name SOURCES... LINKS targets...)
function(warpwright_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PCH" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC warpwright_options ${arg_LINKS})
  if(arg_PCH)
    target_precompile_headers(${name} PRIVATE ${arg_PCH})
  endif()
endfunction()

# warpwright_test(name SOURCES... LINKS targets... LABELS labels...): one doctest executable, one CTest entry.
function(warpwright_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;LABELS;PCH" ${ARGN})
  add_executable(${name} ${CMAKE_SOURCE_DIR}/tests/main.cpp ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE warpwright_options ${arg_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE WARPWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    WARPWRIGHT_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
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
