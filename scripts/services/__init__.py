"""Stores for tests and benchmarks, installed if they are missing and run as plain processes.

Standard library only, so that the script runs before the project is installed.
"""
