# Tests of analysis/task, in the executable of the slicer's tests, which has NVRTC.
target_sources(slicer_tests PRIVATE task_infer_test.cpp task_run_test.cpp task_spec_test.cpp
  task_units_test.cpp)
