"""What a person can have done, carried out through ports; durable where the world changes."""
