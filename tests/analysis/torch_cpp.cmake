# Tests of analysis/torch_cpp: tasks of C++ functions and modules, and the graphs that a runner
# traces of them.
set(torch_cpp_sources broken_test.cpp cut_test.cpp inputs_test.cpp module_test.cpp slice_test.cpp task_text.cpp)
list(TRANSFORM torch_cpp_sources PREPEND torch_cpp/)
warpwright_test(torch_cpp_tests SOURCES ${torch_cpp_sources} LINKS analysis_torch_cpp LABELS analysis SEPARATE)
add_executable(torch_cpp_dump torch_cpp/dump_tasks.cpp)
target_link_libraries(torch_cpp_dump PRIVATE analysis_torch_cpp)
set_target_properties(torch_cpp_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
foreach(target torch_cpp_tests torch_cpp_dump)
  target_precompile_headers(${target} REUSE_FROM warpwright_analysis)
endforeach()
if(WARPWRIGHT_TORCH_PYTHON) # compiles one file against LibTorch
  foreach(source functions modules)
    add_test(NAME torch_cpp_traced_${source}
      COMMAND ${WARPWRIGHT_TORCH_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/torch_cpp/traced_test.py
              $<TARGET_FILE:torch_cpp_dump> ${CMAKE_CURRENT_SOURCE_DIR}/torch_cpp/${source}.cpp)
    set_tests_properties(torch_cpp_traced_${source} PROPERTIES LABELS analysis TIMEOUT 600 SKIP_REGULAR_EXPRESSION "all cases skipped"
      ENVIRONMENT WARPWRIGHT_TORCH_FOLDER=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/torch)
  endforeach()
endif()
