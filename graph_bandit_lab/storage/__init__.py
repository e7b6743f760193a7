"""What was played: the results file, its arrays, exports, and atomic files."""
