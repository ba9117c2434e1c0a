"""``python -m experiments.formula COMMAND``, in a clone."""

from experiments.formula.choice import app

if __name__ == "__main__":
    app()
