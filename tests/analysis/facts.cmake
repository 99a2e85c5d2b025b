# Test sources of analysis/facts; paths are relative to tests/analysis.
target_sources(analysis_tests PRIVATE facts_access_test.cpp facts_kernel_test.cpp)
