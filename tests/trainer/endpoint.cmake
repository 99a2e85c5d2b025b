# The endpoint policy, against a TLS server of the test's own.
warpwright_test(trainer_endpoint_tests
  SOURCES chat_test.cpp endpoint_test.cpp chat_server.cpp
  LINKS warpwright_endpoint SEPARATE)
