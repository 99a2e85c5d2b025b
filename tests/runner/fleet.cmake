# A fleet of real processes on a RabbitMQ node that the tests start themselves (scripts/broker.sh).
add_executable(runner_fleet_client fleet_client.cpp)
target_link_libraries(runner_fleet_client PRIVATE warpwright_client)
add_executable(runner_fleet_fake fleet_fake_runner.cpp)
target_link_libraries(runner_fleet_fake PRIVATE warpwright_service)
set_target_properties(runner_fleet_client runner_fleet_fake PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

warpwright_test(runner_fleet_tests
  SOURCES fleet_test.cpp fleet_names_test.cpp
  LINKS warpwright_client warpwright_fleet_runner
  LABELS fleet
  TIMEOUT 600)
target_compile_definitions(runner_fleet_tests PRIVATE WARPWRIGHT_TEST_DIR="${CMAKE_BINARY_DIR}/tests")
add_dependencies(runner_fleet_tests runner_fleet_client runner_fleet_fake runner_fake_worker warpwright-runner)

# With real workers: seconds of it among the tests, half an hour of it by `ctest -L long`.
if(TARGET warpwright-worker-cpu)
  add_executable(runner_chaos_client chaos_client.cpp)
  target_link_libraries(runner_chaos_client PRIVATE warpwright_client)
  set_target_properties(runner_chaos_client PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  warpwright_test(runner_chaos_tests
    SOURCES chaos_test.cpp remote_fixture.cpp
    LINKS warpwright_client OpenSSL::SSL
    LABELS fleet
    TIMEOUT 900)
  target_compile_definitions(runner_chaos_tests PRIVATE WARPWRIGHT_TEST_DIR="${CMAKE_BINARY_DIR}/tests")
  add_dependencies(runner_chaos_tests runner_chaos_client warpwright-runner warpwright-worker-cpu)
  add_test(NAME runner_chaos_long COMMAND runner_chaos_tests)
  set_tests_properties(runner_chaos_long PROPERTIES LABELS long TIMEOUT 3600 ENVIRONMENT WARPWRIGHT_CHAOS_SECONDS=1800)
endif()
