"""Compare forecasts that a molecule beats the best with what came."""
