"""Plans: a request becomes an outline of concrete steps, before anything is done."""
