"""Tests of the flow language."""
