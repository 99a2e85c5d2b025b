# Target `libtorch` for C++17 code: Debian's libtorch-dev (1.13), or pip's torch in the folder
# WARPWRIGHT_TORCH. LibTorch's own CMake package is not used, because pip's version needs a CUDA
# compiler and sets project-wide flags. Without LibTorch there is no target.
set(WARPWRIGHT_TORCH "" CACHE PATH "Folder of LibTorch with include/ and lib/; empty: the system's")
if(WARPWRIGHT_TORCH)
  set(libtorch_search PATHS ${WARPWRIGHT_TORCH} NO_DEFAULT_PATH)
endif()
find_path(WARPWRIGHT_TORCH_INCLUDE NAMES ATen/ATen.h PATH_SUFFIXES include ${libtorch_search})
find_library(WARPWRIGHT_TORCH_CPU NAMES torch_cpu PATH_SUFFIXES lib ${libtorch_search})
find_library(WARPWRIGHT_C10 NAMES c10 PATH_SUFFIXES lib ${libtorch_search})
find_library(WARPWRIGHT_TORCH_CUDA NAMES torch_cuda PATH_SUFFIXES lib ${libtorch_search})
find_library(WARPWRIGHT_C10_CUDA NAMES c10_cuda PATH_SUFFIXES lib ${libtorch_search})
find_library(WARPWRIGHT_GLOO NAMES gloo)

if(WARPWRIGHT_TORCH_INCLUDE AND WARPWRIGHT_TORCH_CPU AND WARPWRIGHT_C10)
  add_library(libtorch INTERFACE)
  target_include_directories(libtorch SYSTEM INTERFACE
    ${WARPWRIGHT_TORCH_INCLUDE} ${WARPWRIGHT_TORCH_INCLUDE}/torch/csrc/api/include)
  # The CUDA library registers itself when it is loaded. No code refers to its symbols, so the
  # linker must keep it.
  target_link_libraries(libtorch INTERFACE ${WARPWRIGHT_C10} ${WARPWRIGHT_TORCH_CPU})
  if(WARPWRIGHT_TORCH_CUDA)
    target_link_libraries(libtorch INTERFACE
      -Wl,--push-state,--no-as-needed ${WARPWRIGHT_TORCH_CUDA} ${WARPWRIGHT_C10_CUDA} -Wl,--pop-state)
  endif()
  if(WARPWRIGHT_GLOO)
    target_link_libraries(libtorch INTERFACE ${WARPWRIGHT_GLOO})
  endif()
endif()
