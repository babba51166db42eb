//! Queue disciplines that share a link fairly
