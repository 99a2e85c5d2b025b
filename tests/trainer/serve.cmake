# The environment service below its protocols; with real processes: tests/environment.
warpwright_test(trainer_serve_tests
  SOURCES serve_test.cpp
  LINKS warpwright_serve)
