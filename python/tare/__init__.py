"""tare weighs an operating system: what it takes from a program, and what took it."""

__version__ = "0.1.0"
