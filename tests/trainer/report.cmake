warpwright_test(trainer_report_tests
  SOURCES report_test.cpp
  LINKS warpwright_training_report)
