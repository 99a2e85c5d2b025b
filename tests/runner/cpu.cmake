warpwright_test(runner_cpu_tests
  SOURCES cpu_kernels_test.cpp cpu_faults_test.cpp cpu_checker_test.cpp cpu_compile_test.cpp cpu_worker_test.cpp
  LINKS warpwright_runner_cpu warpwright_verify)
add_dependencies(runner_cpu_tests warpwright-worker-cpu)
add_dependencies(runner_adversary_tests warpwright-worker-cpu)

if(WARPWRIGHT_TORCH_PYTHON)
  add_test(NAME runner_cpu_torch_tasks
    COMMAND ${WARPWRIGHT_TORCH_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/torch/cpu_tasks_test.py $<TARGET_FILE:warpwright-runner>)
  add_test(NAME runner_candidates
    COMMAND ${WARPWRIGHT_TORCH_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/torch/candidates_test.py $<TARGET_FILE:warpwright-runner>)
  set_tests_properties(runner_cpu_torch_tasks runner_candidates PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION "all cases skipped")
endif()
