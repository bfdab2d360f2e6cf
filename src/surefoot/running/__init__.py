"""plan -> calls: the executor, the outline runner, budgets, policy, undo. Import the module you need."""
