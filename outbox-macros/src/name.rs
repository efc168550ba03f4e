//! The rules for names that travel: every broker must take them.

use crate::mistakes::Mistakes;
use syn::LitStr;

/// How one kind of name is formed.
pub(crate) struct NameRule {
    what: &'static str,
    form: &'static str,
    has_segments: bool,
    chars_max: usize,
}

/// Event types.
pub(crate) const EVENT_TYPE: NameRule = NameRule {
    what: "event type",
    form: "segments of `[a-z0-9_-]` joined by dots",
    has_segments: true,
    chars_max: 200,
};

/// Consumers; formed like event types, so that brokers take their names too.
pub(crate) const CONSUMER: NameRule = NameRule { what: "consumer name", ..EVENT_TYPE };

/// Topics.
pub(crate) const TOPIC: NameRule =
    NameRule { what: "topic", form: "letters of `[a-z0-9_-]`", has_segments: false, chars_max: 100 };

impl NameRule {
    /// Notes what is wrong with the name, and a well-formed one near to it.
    pub(crate) fn check(&self, name: &LitStr, mistakes: &mut Mistakes) {
        let text = name.value();
        if let Some(fault) = self.fault(&text) {
            let near = self.near(&text);
            let example =
                if self.fault(&near).is_none() { format!(", such as `{near}`") } else { String::new() };
            mistakes.add(name, format!("{} `{text}` {fault}; write {}{example}", self.what, self.form));
        }
    }

    fn fault(&self, name: &str) -> Option<String> {
        if name.is_empty() {
            return Some("is empty".to_owned());
        }
        if name.len() > self.chars_max {
            return Some(format!("has {} characters, over the limit of {}", name.len(), self.chars_max));
        }
        if self.has_segments && name.split('.').any(str::is_empty) {
            return Some("has an empty segment beside a dot".to_owned());
        }
        let is_allowed = |letter| matches!(letter, 'a'..='z' | '0'..='9' | '_' | '-') || self.is_dot(letter);
        let wrong = name.chars().find(|letter| !is_allowed(*letter))?;
        Some(format!("holds the character `{}`", wrong.escape_debug()))
    }

    fn is_dot(&self, letter: char) -> bool {
        self.has_segments && letter == '.'
    }

    /// `OrderPlaced` gives `order_placed`, `orders/placed` gives `orders.placed`.
    fn near(&self, name: &str) -> String {
        let mut near = String::new();
        let mut after_lower = false;
        for letter in name.chars() {
            if letter.is_ascii_uppercase() && after_lower {
                near.push('_');
            }
            after_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
            match letter.to_ascii_lowercase() {
                letter @ ('a'..='z' | '0'..='9' | '_' | '-') => near.push(letter),
                '.' | ':' | '/' if self.has_segments => near.push('.'),
                _ => near.push('-'),
            }
        }
        near.split('.').filter(|segment| !segment.is_empty()).collect::<Vec<_>>().join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_names_have_no_fault() {
        for name in ["orders", "orders.placed", "a-b_c.0", "x"] {
            assert_eq!(EVENT_TYPE.fault(name), None, "{name}");
        }
        assert_eq!(TOPIC.fault("order-events_2"), None);
        assert!(TOPIC.fault("orders.placed").is_some());
    }

    #[test]
    fn a_suggested_name_has_no_fault() {
        for name in ["OrderPlaced", "orders..placed", "orders/placed", ".a", "Bestellung ä", "a::b"] {
            assert!(EVENT_TYPE.fault(name).is_some(), "{name}");
            let near = EVENT_TYPE.near(name);
            assert_eq!(EVENT_TYPE.fault(&near), None, "{near}");
        }
        assert_eq!(EVENT_TYPE.near("OrderPlaced"), "order_placed");
        assert_eq!(TOPIC.near("orders.placed"), "orders-placed");
    }

    #[test]
    fn the_limits_count() {
        assert_eq!(EVENT_TYPE.fault(&"a".repeat(200)), None);
        assert!(EVENT_TYPE.fault(&"a".repeat(201)).is_some());
        assert_eq!(TOPIC.fault(&"a".repeat(100)), None);
        assert!(TOPIC.fault(&"a".repeat(101)).is_some());
    }
}
