//! Trees as rows, and their folds.
