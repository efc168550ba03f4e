//! The day on which a version is retired.

use crate::mistakes::Mistakes;
use syn::LitStr;

/// Notes a mistake unless the text is a day of the calendar, as `2026-12-31`.
pub(super) fn check(date: &LitStr, mistakes: &mut Mistakes) {
    if let Some(fault) = fault(&date.value()) {
        mistakes.add(date, format!("{fault}; write `retired = \"2026-12-31\"`, with year, month and day"));
    }
}

fn fault(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |at: usize, len: usize| {
        let part = parts.get(at).filter(|part| part.len() == len && part.bytes().all(|b| b.is_ascii_digit()));
        part.and_then(|part| part.parse::<u32>().ok())
    };
    let (Some(year), Some(month), Some(day), 3) = (number(0, 4), number(1, 2), number(2, 2), parts.len())
    else {
        return Some(format!("`{text}` is no date"));
    };
    let days = match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (day == 0 || day > days).then(|| format!("the calendar has no day `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn only_days_of_the_calendar_pass() {
        for day in ["2026-12-31", "2028-02-29", "2000-02-29", "2027-04-30"] {
            assert_eq!(fault(day), None, "{day}");
        }
        for day in ["2026-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00"] {
            assert!(fault(day).is_some_and(|fault| fault.starts_with("the calendar")), "{day}");
        }
        for day in [
            "",
            "2026",
            "2026-1-1",
            "31.12.2026",
            "2026-12-31T00:00",
            "2026-12-31-",
            "20261-2-31",
            "+026-12-31",
        ] {
            assert!(fault(day).is_some_and(|fault| fault.ends_with("is no date")), "{day}");
        }
    }
}
