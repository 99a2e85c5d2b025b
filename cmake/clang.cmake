# Static libraries of Clang 22 and LLVM. Debian's CMake package links the LLVM dylib, so this file
# lists the archives itself.
find_program(WARPWRIGHT_LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${WARPWRIGHT_LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_include OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${WARPWRIGHT_LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_libdir OUTPUT_STRIP_TRAILING_WHITESPACE)
if(CMAKE_SYSROOT) # llvm-config is this machine's, and the archives are the other's: in the same folders there
  set(llvm_include ${CMAKE_SYSROOT}${llvm_include})
  set(llvm_libdir ${CMAKE_SYSROOT}${llvm_libdir})
  execute_process(COMMAND ${WARPWRIGHT_LLVM_CONFIG} --version OUTPUT_VARIABLE llvm_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(STRINGS ${llvm_include}/llvm/Config/llvm-config.h other_version REGEX "^#define LLVM_VERSION_STRING ")
  if(NOT other_version MATCHES "\"${llvm_version}\"")
    message(FATAL_ERROR "LLVM is ${llvm_version} here and another version in ${CMAKE_SYSROOT}. Clang precompiles a header for the "
      "programs, so update the older one (${other_version})")
  endif()
endif()
set(WARPWRIGHT_CLANG_RESOURCE_DIR ${llvm_libdir}/clang/22 CACHE INTERNAL "")

file(GLOB clang_archives ${llvm_libdir}/libclang[A-Z]*.a)
list(FILTER clang_archives EXCLUDE REGEX "libclang(Tidy|Daemon|Doc|Move|Query|IncludeFixer|ReorderFields|ChangeNamespace|ApplyReplacements|Dependency|Installapi|InstallAPI).*")

function(warpwright_llvm_libraries variable)
  execute_process(COMMAND ${WARPWRIGHT_LLVM_CONFIG} --link-static --libs ${ARGN}
    OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(libraries)
  set(${variable} ${libraries} PARENT_SCOPE)
endfunction()

warpwright_llvm_libraries(llvm_all all)
find_library(WARPWRIGHT_ZLIB NAMES libz.a REQUIRED)
find_library(WARPWRIGHT_ZSTD NAMES libzstd.a REQUIRED)
# Clang's archives depend on one another in cycles, so the linker gets them as one group.
foreach(target clang_parser clang_codegen)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${llvm_include})
  target_compile_definitions(${target} INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  target_link_directories(${target} INTERFACE ${llvm_libdir})
  target_link_libraries(${target} INTERFACE -Wl,--start-group ${clang_archives} ${llvm_all} -Wl,--end-group
    ${WARPWRIGHT_ZLIB} ${WARPWRIGHT_ZSTD} -ldl -lm -lrt Threads::Threads)
endforeach()
