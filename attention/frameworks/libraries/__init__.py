"""What each library answers: its records, and the arithmetic that runs on them."""
