//! Which partition a key belongs to, equal on every broker and to Kafka's Java client.

/// The partitions of a topic unless configured otherwise.
pub const PARTITIONS_DEFAULT: u16 = 16;

/// The partition of unordered events.
pub const ANY: &str = "any";

/// The name of the partition of an event with that key, or without one, as [`Broker::partitions`] lists it.
///
/// [`Broker::partitions`]: super::Broker::partitions
#[must_use]
pub fn of(key: Option<&str>, partitions: u16) -> String {
    key.map_or_else(|| ANY.to_owned(), |key| of_key(key, partitions).to_string())
}

/// The names of all partitions of a topic that has so many for events with a key.
#[must_use]
pub fn names(partitions: u16) -> Vec<String> {
    (0..partitions).map(|number| number.to_string()).chain([ANY.to_owned()]).collect()
}

/// The partition of `key` among `partitions`: murmur2 of its UTF-8 bytes, without the sign bit, as Apache Kafka's
/// `Utils.toPositive(Utils.murmur2(key)) % partitions`.
#[must_use]
pub fn of_key(key: &str, partitions: u16) -> u16 {
    let positive = murmur2(key.as_bytes()) & 0x7fff_ffff;
    u16::try_from(positive % u32::from(partitions)).expect("a remainder is below its divisor")
}

/// MurmurHash2, 32 bits, with Kafka's seed (Austin Appleby, public domain).
fn murmur2(data: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let len = u32::try_from(data.len()).expect("a key is far below 4 GiB");
    let mut hash = 0x9747_b28c ^ len;
    let (words, tail) = data.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !tail.is_empty() {
        for (place, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * place);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::murmur2;

    /// The values that Apache Kafka's own test of its Java hash expects.
    #[test]
    fn the_hash_equals_kafkas() {
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
        ] {
            assert_eq!(murmur2(key.as_bytes()).cast_signed(), hash, "{key}");
        }
    }
}
