"""The guided tour and the exercises."""
