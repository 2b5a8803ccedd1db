"""Models and scores in the files of other tools."""
