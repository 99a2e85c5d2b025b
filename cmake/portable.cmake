# Programs that start on an older C library than the one they are built with: WARPWRIGHT_GLIBC.
#
# They are linked against stub libraries with the symbol versions that the older glibc has, which
# scripts/glibc_stubs.py makes from the installed glibc. support/portable has the functions that are
# newer. A function that is in neither fails the link by its name. Programs with LibTorch do not use
# them, because LibTorch itself needs the installed glibc.
set(WARPWRIGHT_GLIBC "" CACHE STRING "Oldest glibc that the programs start on, such as 2.28; empty: the installed one")
if(NOT WARPWRIGHT_GLIBC)
  return()
endif()
if(WARPWRIGHT_SANITIZE)
  message(FATAL_ERROR "Sanitizers need the installed glibc: set WARPWRIGHT_GLIBC to the empty string")
endif()

find_program(WARPWRIGHT_STUBS_PYTHON NAMES python3 REQUIRED)
find_library(WARPWRIGHT_INSTALLED_LIBC NAMES libc.so.6 REQUIRED)
set(stubs ${CMAKE_BINARY_DIR}/glibc-${WARPWRIGHT_GLIBC})
set(script ${CMAKE_SOURCE_DIR}/scripts/glibc_stubs.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script} ${WARPWRIGHT_INSTALLED_LIBC})
if(${script} IS_NEWER_THAN ${stubs}/libc.so OR ${WARPWRIGHT_INSTALLED_LIBC} IS_NEWER_THAN ${stubs}/libc.so)
  if(CMAKE_SYSROOT)
    set(cross --target ${CMAKE_C_COMPILER_TARGET} --sysroot ${CMAKE_SYSROOT})
  endif()
  execute_process(COMMAND ${WARPWRIGHT_STUBS_PYTHON} ${script} --compiler ${CMAKE_C_COMPILER} ${cross} ${WARPWRIGHT_GLIBC} ${stubs}
    COMMAND_ERROR_IS_FATAL ANY)
endif()

add_library(warpwright_portable STATIC ${CMAKE_SOURCE_DIR}/support/portable/compat.c ${CMAKE_SOURCE_DIR}/support/portable/start.c)
set_target_properties(warpwright_portable PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_compile_options(warpwright_portable PRIVATE -Wall -Wextra -Werror -Wno-deprecated-declarations)
set(portable $<NOT:$<BOOL:$<TARGET_PROPERTY:WARPWRIGHT_SHARED_RUNTIME>>>)
target_link_libraries(warpwright_options INTERFACE $<${portable}:warpwright_portable>)
# Before 2.34 threads, dlopen and timers are libraries of their own.
target_link_options(warpwright_options INTERFACE
  "$<${portable}:-L${stubs};-Wl,--wrap=__libc_start_main;-Wl,--push-state,--no-as-needed,-lpthread,-ldl,-lrt,--pop-state>")
