//! Times in attributes: a whole number and a unit.

use crate::mistakes::Mistakes;
use syn::LitStr;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The time in milliseconds; what is none is noted as a mistake.
pub(super) fn millis(literal: Option<&LitStr>, mistakes: &mut Mistakes) -> Option<u64> {
    let literal = literal?;
    let text = literal.value();
    match parse(&text) {
        None => {
            mistakes.add(
                literal,
                format!(
                    "`{text}` is no time; write a whole number with `ms`, `s`, `m` or `h`, such as `30s`"
                ),
            );
            None
        }
        Some(0) => {
            mistakes
                .add(literal, format!("`{text}` leaves no time at all; write a longer one, such as `1s`"));
            None
        }
        millis => millis,
    }
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let (_, unit_ms) = UNITS.into_iter().find(|(unit, _)| *unit == &text[digits.len()..])?;
    // `parse` alone would take a sign.
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    let number: u64 = is_plain.then(|| digits.parse().ok())??;
    number.checked_mul(unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_whole_number_with_a_unit() {
        assert_eq!(parse("250ms"), Some(250));
        assert_eq!(parse("1s"), Some(1_000));
        assert_eq!(parse("10m"), Some(600_000));
        assert_eq!(parse("2h"), Some(7_200_000));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in ["", "s", "10", "1.5s", "+1s", "-1s", "1 s", "1d", "1S", "1m30s", "99999999999999999999h"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
