//! Scenario files: parsed, checked, built and run
