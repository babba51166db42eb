//! Random numbers that are the same on every machine and in every release.
//!
//! The generator is xoshiro256** 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number
//! generators", 2018), seeded through SplitMix64 as its authors advise. The code is our own,
//! because a library may change its stream between minor versions, which would change every
//! recorded result.

use core::fmt::{self, Write};

/// The seed of a run. Each component draws from its own stream, named once at construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream with this name. It is independent of streams with other names, and the same for
    /// the same seed.
    pub fn stream(self, name: &str) -> Rng {
        self.stream_of(format_args!("{name}"))
    }

    /// The stream whose name is given in parts, which avoids allocating names.
    pub fn stream_of(self, name: fmt::Arguments<'_>) -> Rng {
        self.begin(Hash::of(name))
    }

    /// Random streams for many flows. The name of a stream is `start`, a number and an end. `start`
    /// is hashed only once.
    pub fn numbered(self, start: fmt::Arguments<'_>) -> Numbered {
        Numbered { seed: self, start: Hash::of(start) }
    }

    fn begin(self, Hash(mut hash): Hash) -> Rng {
        let mut state = self.0 ^ split_mix(&mut hash);
        Rng {
            s: [split_mix(&mut state), split_mix(&mut state), split_mix(&mut state), split_mix(&mut state)],
        }
    }
}

/// Streams whose names share a beginning; see [`Seed::numbered`].
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    seed: Seed,
    start: Hash,
}

impl Numbered {
    /// The stream whose name is the shared beginning, `number`, and `end`.
    pub fn stream(self, number: u32, end: &str) -> Rng {
        let mut hash = self.start;
        let mut unit = 1;
        while number / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            hash.take(b'0' + (number / unit % 10) as u8);
            unit /= 10;
        }
        end.bytes().for_each(|byte| hash.take(byte));
        self.seed.begin(hash)
    }
}

/// The FNV-1a hash of a name, which is good enough for a few fixed names.
#[derive(Clone, Copy, Debug)]
struct Hash(u64);

impl Hash {
    fn of(name: fmt::Arguments<'_>) -> Self {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        let _ = hash.write_fmt(name); // it never fails
        hash
    }

    #[inline]
    fn take(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

impl fmt::Write for Hash {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.bytes().for_each(|byte| self.take(byte));
        Ok(())
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*state)
}

/// The finaliser of SplitMix64: a bijection that spreads each input bit over the word.
pub const fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One stream of random numbers, owned by one component.
#[derive(Debug)]
pub struct Rng {
    s: [u64; 4],
}

impl Rng {
    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let result = self.s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = self.s[1] << 17;
        self.s[2] ^= self.s[0];
        self.s[3] ^= self.s[1];
        self.s[1] ^= self.s[2];
        self.s[0] ^= self.s[3];
        self.s[2] ^= t;
        self.s[3] = self.s[3].rotate_left(45);
        result
    }

    /// A real number, uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An integer, uniform in `0..n` without bias (Lemire, "Fast random integer generation in an
    /// interval", 2019).
    ///
    /// # Panics
    /// When `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "a draw from an empty range");
        let mut wide = (self.next_u64() >> 32) * u64::from(n);
        if (wide as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (wide as u32) < threshold {
                wide = (self.next_u64() >> 32) * u64::from(n);
            }
        }
        (wide >> 32) as u32
    }

    /// True with probability `p`, clamped to [0, 1].
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_its_published_first_values() {
        // The reference implementation's test prints these values for seed 1234567.
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn xoshiro_gives_its_published_first_values() {
        let mut rng = Rng { s: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
    }

    #[test]
    fn streams_differ_by_name_and_by_seed() {
        let draw = |seed: u64, name: &str| Seed(seed).stream(name).next_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_eq!(draw(1, "flow/tcp.3"), Seed(1).stream_of(format_args!("flow/{}.{}", "tcp", 3)).next_u64());
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn numbered_streams_are_those_of_their_names() {
        let of_group = Seed(1).numbered(format_args!("flow/{}.", "tcp"));
        for number in [0, 1, 9, 10, 99, 100, 65_536, 1_000_000_007, u32::MAX] {
            let name = format!("flow/tcp.{number}/start");
            assert_eq!(of_group.stream(number, "/start").next_u64(), Seed(1).stream(&name).next_u64());
        }
    }

    #[test]
    fn draws_below_n_are_uniform() {
        let mut rng = Seed(1).stream("test");
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6) as usize] += 1;
        }
        // Chi-square with 5 degrees of freedom exceeds 20.5 with probability 0.001.
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 20.5, "{counts:?}");
    }
}
