"""The host: what on it disturbs a measurement (`doctor`), read and never changed here."""

from tare.host.doctor import Diagnosis, diagnose
from tare.host.finding import Check, Evidence, Finding, Severity, State
from tare.host.machine import Machine

__all__ = ["Check", "Diagnosis", "Evidence", "Finding", "Machine", "Severity", "State", "diagnose"]
