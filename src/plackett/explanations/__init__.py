"""Why documents are ranked as they are: contributions of features, reasons for pairs, what would change the order."""
