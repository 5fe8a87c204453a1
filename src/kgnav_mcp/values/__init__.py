"""Values of plans, the same for every store: conversion of literals, order, comparison, functions and arithmetic."""
