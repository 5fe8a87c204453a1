"""Stores that the tests and the benchmarks need, installed where they are missing and run as plain processes.

Standard library only, so that the script runs before anything of the project is installed.
"""
