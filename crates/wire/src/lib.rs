//! Ethernet, IP, TCP and UDP headers as far as a fair gateway needs them
