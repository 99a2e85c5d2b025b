warpwright_test(runner_cpu_tests
  SOURCES cpu_kernels_test.cpp cpu_faults_test.cpp cpu_compile_test.cpp cpu_worker_test.cpp
  LINKS warpwright_runner_cpu)
add_dependencies(runner_cpu_tests warpwright-worker-cpu)
add_dependencies(runner_adversary_tests warpwright-worker-cpu)
