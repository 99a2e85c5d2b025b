# Packs the Clang headers that a CUDA parse on this system can reach. Sets
# WARPWRIGHT_RESOURCE_ARCHIVE.
set(resource_include ${WARPWRIGHT_CLANG_RESOURCE_DIR}/include)
file(GLOB resource_files RELATIVE ${resource_include}
  ${resource_include}/*.h ${resource_include}/cuda_wrappers/* ${resource_include}/cuda_wrappers/bits/*)
set(other_systems arm)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(other_systems "arm_(sme|mve|cde)") # arm_neon.h and arm_acle.h are reached
endif()
list(FILTER resource_files EXCLUDE REGEX
  "^(${other_systems}|hexagon|hvx|opencl|altivec|vecintrin|riscv|sifive|andes|wasm|vel|lasx|lsx|larch|msa|hlsl|s390|htm|ppc|amo|amdgpu|ptrauth|__clang_hip|__clang_spirv|ISO_Fortran)")
list(FILTER resource_files EXCLUDE REGEX "^cuda_wrappers/bits$")
set(WARPWRIGHT_RESOURCE_ARCHIVE ${CMAKE_CURRENT_BINARY_DIR}/resource_headers.tar.zst)
list(JOIN resource_files "\n" resource_list)
set(resource_list_file ${CMAKE_CURRENT_BINARY_DIR}/resource_headers.txt)
set(resource_list_before "")
if(EXISTS ${resource_list_file} AND EXISTS ${WARPWRIGHT_RESOURCE_ARCHIVE})
  file(READ ${resource_list_file} resource_list_before)
endif()
if(NOT resource_list_before STREQUAL "${resource_list}\n")
  file(WRITE ${resource_list_file} "${resource_list}\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E tar cf ${WARPWRIGHT_RESOURCE_ARCHIVE} --zstd --format=gnutar
      --files-from=${resource_list_file}
    WORKING_DIRECTORY ${resource_include} COMMAND_ERROR_IS_FATAL ANY)
endif()
