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
warpwright_test(runner_fleet_chaos_tests
  SOURCES fleet_chaos_test.cpp
  LINKS warpwright_client
  LABELS fleet
  TIMEOUT 900)
foreach(test runner_fleet_tests runner_fleet_chaos_tests)
  target_compile_definitions(${test} PRIVATE WARPWRIGHT_TEST_DIR="${CMAKE_BINARY_DIR}/tests")
  add_dependencies(${test} runner_fleet_client runner_fleet_fake runner_fake_worker warpwright-runner)
endforeach()
