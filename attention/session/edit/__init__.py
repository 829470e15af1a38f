"""Changes: functions from settings to settings."""
