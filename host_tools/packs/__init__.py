"""Zone packs: built from any map, looked at, compared."""
