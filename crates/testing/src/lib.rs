//! Development only: operation model, counting allocator, trace hash
