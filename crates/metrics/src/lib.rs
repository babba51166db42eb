//! Fairness measures, the max-min oracle, histograms, intervals and the result records
