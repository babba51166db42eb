//! A sans-I/O TCP at segment granularity for simulations
