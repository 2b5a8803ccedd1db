"""Compiled loops: the one decorator, its cache, threads, random numbers, vector maths, sorting, scratch memory."""
