# Toolchain for arm64 Linux (Grace, DGX Spark) with Clang and LLD: `make package ARCH=arm64`.
# Libraries and headers come from Debian's arm64 packages, which scripts/sysroot.py unpacks. Programs
# of the build itself and tests run under qemu-user.
set(WARPWRIGHT_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64/root CACHE PATH "Root folder with Debian's arm64 packages")
if(NOT EXISTS ${WARPWRIGHT_SYSROOT}/var/lib/dpkg/wanted)
  message(FATAL_ERROR "${WARPWRIGHT_SYSROOT} is missing: scripts/sysroot.py arm64 build/sysroot-arm64")
endif()
file(REAL_PATH ${WARPWRIGHT_SYSROOT} CMAKE_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -fuse-ld=lld)
find_program(CMAKE_STRIP NAMES llvm-strip-22 REQUIRED)
find_program(WARPWRIGHT_QEMU NAMES qemu-aarch64 qemu-aarch64-static REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${WARPWRIGHT_QEMU} -L ${CMAKE_SYSROOT})

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
