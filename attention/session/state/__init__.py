"""What the dashboard is set to: the record, its link, its run, its examples."""
