"""The live web page: `sledwarden-page`."""
