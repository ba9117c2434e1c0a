"""The programs behind records in the documentation; they are not in the wheel."""
