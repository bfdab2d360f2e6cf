"""How well plans do on everyday tasks: the tasks as data, and what makes a plan of one adequate, judged in code."""
