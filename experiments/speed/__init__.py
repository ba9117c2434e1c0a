"""The scripts behind the numbers on speed, memory and cost in the documentation."""
