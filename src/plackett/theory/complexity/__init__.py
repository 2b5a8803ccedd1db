"""How rich a class of scoring functions is: Rademacher averages, shatter coefficients, VC dimensions."""
