"""Touch the world, translate foreign errors at the border, decide nothing. Adapters do not import one another."""
