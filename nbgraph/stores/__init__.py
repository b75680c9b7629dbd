"""State stores: one file each, one conformance suite for all."""
