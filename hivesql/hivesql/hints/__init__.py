"""What somebody who made a mistake may have meant."""
