# Records, policies and stages; with LibTorch also the network and whole runs.
warpwright_test(trainer_tests
  SOURCES config_test.cpp matrix_test.cpp policy_test.cpp ranker_replay_test.cpp ranker_test.cpp records_test.cpp tokens_test.cpp
  LINKS warpwright_trainer SEPARATE)

# `warpwright env` in the test's process: op graphs need no Clang.
warpwright_test(trainer_modules_tests
  SOURCES modules_test.cpp
  LINKS warpwright_trainer warpwright_graph)

if(TARGET warpwright_network)
  add_executable(trainer_network_tests ${CMAKE_SOURCE_DIR}/tests/main.cpp network_test.cpp)
  target_link_libraries(trainer_network_tests PRIVATE warpwright_options warpwright_network)
  set_target_properties(trainer_network_tests PROPERTIES CXX_STANDARD 17 WARPWRIGHT_SHARED_RUNTIME ON
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME trainer_network_tests COMMAND trainer_network_tests)
  set_tests_properties(trainer_network_tests PROPERTIES TIMEOUT 120)
endif()

if(TARGET warpwright_learning)
  warpwright_test(trainer_inference_tests
    SOURCES inference_test.cpp
    LINKS warpwright_learning
    TIMEOUT 120)
  set_target_properties(trainer_inference_tests PROPERTIES WARPWRIGHT_SHARED_RUNTIME ON)
endif()

if(TARGET warpwright-train)
  warpwright_test(trainer_pipeline_tests
    SOURCES pipeline_test.cpp ${PROJECT_SOURCE_DIR}/trainer/network/safetensors.cpp
    LINKS warpwright_support
    TIMEOUT 300)
  add_dependencies(trainer_pipeline_tests warpwright-train)
endif()

if(TARGET warpwright-train AND TARGET warpwright)
  warpwright_test(trainer_propose_tests
    SOURCES propose_test.cpp chat_server.cpp
    LINKS warpwright_net
    TIMEOUT 120)
  add_dependencies(trainer_propose_tests warpwright-train warpwright warpwright-runner)
endif()

if(TARGET warpwright-train AND TARGET warpwright AND TARGET warpwright-worker-cpu)
  warpwright_test(trainer_adversary_tests
    SOURCES adversary_test.cpp
    LINKS warpwright_support
    TIMEOUT 400)
  add_dependencies(trainer_adversary_tests warpwright-train warpwright warpwright-runner warpwright-worker-cpu)
endif()
