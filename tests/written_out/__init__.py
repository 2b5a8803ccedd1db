"""Every measure and loss a second time: plain loops written from the formulas, independent of the kernels."""
