# Tests of analysis/slicer and analysis/task: an executable of their own, as they compile with the
# real NVRTC.
warpwright_test(slicer_tests
  SOURCES slicer_test.cpp nvrtc_probe.cpp
  LINKS warpwright_analysis warpwright_config ${CMAKE_DL_LIBS}
  LABELS analysis SEPARATE)
target_precompile_headers(slicer_tests REUSE_FROM warpwright_analysis)
