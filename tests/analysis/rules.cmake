# Test sources of analysis/rules; paths are relative to tests/analysis.
target_sources(analysis_tests PRIVATE rules_memory_test.cpp rules_execution_test.cpp rules_corpus_test.cpp rules_pages_test.cpp)
