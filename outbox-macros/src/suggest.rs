//! Finds the word a user probably meant.

/// How many letters may differ for a word to be suggested.
const DISTANCE_MAX: usize = 3;

/// The tail of an error about an unknown word: the closest known one, or all of them.
///
/// ```text
/// unknown key `verion`; did you mean `version`?
/// unknown key `colour`; known are `type`, `version` and `topic`
/// ```
pub(crate) fn instead_of(word: &str, known: &[&str]) -> String {
    match closest(word, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.len() == 1 => format!("the only one known here is {}", enumerate(known)),
        None => format!("known are {}", enumerate(known)),
    }
}

/// The known word that is nearest to `word`, if one is near.
pub(crate) fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .iter()
        .map(|candidate| (distance(&word, candidate), *candidate))
        // A short word is near to everything, so at least half of it must be right.
        .filter(|(distance, candidate)| *distance <= DISTANCE_MAX && 2 * *distance <= candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn enumerate(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    // `steps[i][j]` leads from the first `i` letters on the left to the first `j` on the right.
    let mut steps = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            steps[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = steps[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                let swaps = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
                let swapped = if swaps { steps[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(swapped).min(steps[i - 1][j] + 1).min(steps[i][j - 1] + 1)
            };
        }
    }
    steps[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[&str] = &["type", "version", "topic", "key_with"];

    #[test]
    fn a_slip_of_the_pen_is_corrected() {
        assert_eq!(instead_of("verion", KEYS), "did you mean `version`?");
        assert_eq!(instead_of("Topic", KEYS), "did you mean `topic`?");
        assert_eq!(instead_of("keywith", KEYS), "did you mean `key_with`?");
        assert_eq!(instead_of("kye", &["key"]), "did you mean `key`?");
    }

    #[test]
    fn a_word_that_is_near_to_none_gets_the_whole_list() {
        assert_eq!(instead_of("colour", KEYS), "known are `type`, `version`, `topic` and `key_with`");
        assert_eq!(instead_of("x", &["key"]), "the only one known here is `key`");
    }
}
