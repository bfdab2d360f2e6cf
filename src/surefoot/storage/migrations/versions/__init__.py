"""`NNNN_what.py`: the number is the revision, and the greatest is the version this code knows."""
