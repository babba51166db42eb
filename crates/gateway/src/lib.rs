//! Forwards real packets through a fairwire discipline
